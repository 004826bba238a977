//! A layout that could issue negative or overlapping ids, or times no language can show, cannot be made.

use crate::common::layout;
use leafid_core::{Code, Layout, LayoutFields, Order};

fn refusal(fields: LayoutFields) -> String {
    match Layout::new(fields) {
        Ok(layout) => panic!("{layout:?} was accepted"),
        Err(error) => {
            assert_eq!(error.code(), Code::InvalidArgument);
            error.message().to_string()
        }
    }
}

const LEAF: LayoutFields = LayoutFields {
    epoch_ms: 1_288_834_974_657,
    tick_ms: 1,
    timestamp_bits: 41,
    worker_bits: 10,
    sequence_bits: 12,
    order: Order::WorkerSequence,
};

#[test]
fn the_default_is_leafs() {
    assert_eq!(LayoutFields::default(), LEAF);
    assert_eq!(Layout::default(), Layout::LEAF);
    assert_eq!(Layout::LEAF.fields(), LEAF);
}

#[test]
fn sixty_four_bits_are_refused() {
    let message = refusal(LayoutFields { sequence_bits: 13, ..LEAF });
    assert!(message.contains("41|10|13, 64 bits") && message.contains("at most 63"), "{message}");
    assert!(Layout::new(LayoutFields { sequence_bits: 11, ..LEAF }).is_ok());
}

#[test]
fn a_refusal_names_field_value_and_bounds() {
    for (fields, said) in [
        (LayoutFields { timestamp_bits: 0, ..LEAF }, "timestamp_bits is 0; allowed: 1 to 62"),
        (LayoutFields { timestamp_bits: -1, ..LEAF }, "timestamp_bits is -1; allowed: 1 to 62"),
        (LayoutFields { timestamp_bits: i64::MAX, ..LEAF }, "timestamp_bits is 9223372036854775807; allowed"),
        (LayoutFields { worker_bits: -1, ..LEAF }, "worker_bits is -1; allowed: 0 to"),
        (LayoutFields { worker_bits: 32, timestamp_bits: 1, ..LEAF }, "worker_bits is 32; allowed: 0 to 31"),
        (LayoutFields { worker_bits: i64::MIN, ..LEAF }, "worker_bits is -9223372036854775808; allowed"),
        (LayoutFields { sequence_bits: -12, ..LEAF }, "sequence_bits is -12; allowed: 0 to"),
        (
            LayoutFields { sequence_bits: 32, timestamp_bits: 1, ..LEAF },
            "sequence_bits is 32; allowed: 0 to 31",
        ),
        (LayoutFields { tick_ms: 0, ..LEAF }, "tick_ms is 0; allowed: 1 to 3600000"),
        (LayoutFields { tick_ms: -1, ..LEAF }, "tick_ms is -1; allowed"),
        (LayoutFields { tick_ms: 3_600_001, ..LEAF }, "tick_ms is 3600001; allowed"),
        (LayoutFields { tick_ms: i64::MAX, ..LEAF }, "tick_ms is 9223372036854775807; allowed"),
        (LayoutFields { epoch_ms: -1, ..LEAF }, "epoch_ms is -1; allowed"),
        (LayoutFields { epoch_ms: (1 << 53) + 1, ..LEAF }, "epoch_ms is 9007199254740993; allowed"),
        (LayoutFields { epoch_ms: i64::MAX, ..LEAF }, "epoch_ms is 9223372036854775807; allowed"),
    ] {
        let message = refusal(fields);
        assert!(message.contains(said), "{message:?} does not say {said:?}");
    }
}

#[test]
fn the_end_lies_at_most_at_two_to_the_53() {
    // 2^52 ticks of 2 ms from the epoch 0 end exactly there.
    let fields = LayoutFields {
        epoch_ms: 0,
        tick_ms: 2,
        timestamp_bits: 52,
        worker_bits: 0,
        sequence_bits: 11,
        ..LEAF
    };
    assert_eq!(Layout::new(fields).map(|layout| layout.expires_at_ms()), Ok(1 << 53));
    for past in [
        LayoutFields { epoch_ms: 1, ..fields },
        LayoutFields { tick_ms: 3, ..fields },
        LayoutFields { timestamp_bits: 53, sequence_bits: 10, ..fields },
        LayoutFields { timestamp_bits: 62, worker_bits: 0, sequence_bits: 0, ..fields },
    ] {
        let message = refusal(past);
        assert!(message.contains("timestamp_bits is") && message.contains("2^53"), "{message}");
    }
}

#[test]
fn expiry_is_the_first_time_without_an_id() {
    for (name, layout) in Layout::PRESETS {
        let end = layout.expires_at_ms();
        let last = layout.compose(end - 1, layout.max_worker_id(), layout.max_sequence());
        assert!(last.is_ok_and(|id| id >= 0), "{name}");
        assert_eq!(
            layout.compose(end, 0, 0).map_err(|error| error.code()),
            Err(Code::TimeExhausted),
            "{name}"
        );
    }
    assert_eq!(Layout::LEAF.expires_at_ms(), 3_487_858_230_209);
    assert_eq!(Layout::UID_GENERATOR.expires_at_ms(), 1_732_109_056_000);
    assert_eq!(Layout::JS_SAFE.expires_at_ms(), 3_487_858_230_209);
    // 35 bits of milliseconds are 398 days.
    assert_eq!(layout(35, 5, 23, 1_767_225_600_000).expires_at_ms(), 1_767_225_600_000 + (1 << 35));
}

#[test]
fn another_epoch_is_checked_too() {
    let moved = Layout::LEAF.with_epoch_ms(1_767_225_600_000);
    assert_eq!(moved.map(|layout| layout.epoch_ms()), Ok(1_767_225_600_000));
    for epoch_ms in [-1, i64::MIN, i64::MAX, (1 << 53) - (1 << 41) + 1] {
        assert!(Layout::LEAF.with_epoch_ms(epoch_ms).is_err(), "{epoch_ms}");
    }
    assert!(Layout::LEAF.with_epoch_ms((1 << 53) - (1 << 41)).is_ok());
}

#[test]
fn bits_as_text_come_back_as_text() {
    for text in ["35|5|23", "41|0|22", "1|31|31", "52|0|11", "32|0|31"] {
        assert_eq!(Layout::parse(text).map(|layout| layout.to_string()), Ok(text.to_string()));
        assert_eq!(text.parse::<Layout>(), Layout::parse(text));
    }
    // The bits of a preset from the preset's epoch are the preset.
    assert_eq!(Layout::parse("41|10|12"), Ok(Layout::LEAF));
}

#[test]
fn order_is_read_by_its_name() {
    for order in [Order::WorkerSequence, Order::SequenceWorker] {
        assert_eq!(Order::parse(order.name()), Ok(order));
    }
    for text in ["", "worker", "Worker-Sequence", "worker_sequence"] {
        let message = Order::parse(text).map_err(|error| error.message().to_string());
        let said = "allowed: \"worker-sequence\" or \"sequence-worker\"";
        assert!(message.as_ref().is_err_and(|message| message.contains(said)), "{message:?}");
    }
}

#[test]
fn ticks_and_times_agree() {
    for (_, layout) in Layout::PRESETS {
        let (epoch, tick) = (layout.epoch_ms(), layout.tick_ms());
        assert_eq!(layout.tick_at(epoch - 1), None);
        assert_eq!(layout.tick_at(i64::MIN), None);
        assert_eq!(layout.tick_at(epoch), Some(0));
        assert_eq!(layout.tick_at(epoch + tick - 1), Some(0));
        assert_eq!(layout.tick_at(epoch + tick), Some(1));
        assert_eq!(layout.tick_at(i64::MAX), Some(((i64::MAX - epoch) / tick) as u64));
        assert_eq!(layout.tick_from(epoch), Some(0));
        assert_eq!(layout.tick_from(epoch + 1), Some(1), "rounded up to a tick");
        assert_eq!(layout.tick_from(epoch + tick), Some(1));
        assert!(layout.tick_from(i64::MAX).is_some_and(|tick| tick > layout.last_tick()));
        assert_eq!(layout.tick_start_ms(layout.last_tick() + 1), layout.expires_at_ms());
    }
}

#[test]
fn an_id_of_more_bits_than_the_layout_has_is_refused_with_the_largest() {
    // 20 bits in all.
    let layout = crate::common::layout(8, 5, 7, 0);
    assert!(layout.decode((1 << 20) - 1).is_ok());
    for id in [-1, 1 << 20, i64::MAX] {
        let error = layout.decode(id).expect_err("outside");
        assert_eq!(error.message(), format!("id is {id}; allowed: 0 to 1048575 in the layout {layout}"));
    }
}
