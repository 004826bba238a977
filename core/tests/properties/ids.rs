//! Layouts and ids.

use crate::cases::holds;
use leafid_core::{Code, Layout, LayoutFields, Order, Parts, TextForm, parse_id};
use proptest::prelude::*;

const LATEST_MS: i64 = 1 << 53;

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::WorkerSequence), Just(Order::SequenceWorker)]
}

/// Any layout that can be; its bounds are reached often.
pub(crate) fn layout() -> impl Strategy<Value = Layout> {
    let bits = (0..=31i64, 0..=31i64).prop_flat_map(|(worker, sequence)| {
        let most = (63 - worker - sequence).min(53);
        (1..=most).prop_map(move |timestamp| (timestamp, worker, sequence))
    });
    let with_ticks = bits.prop_flat_map(|(timestamp, worker, sequence)| {
        let most = 3_600_000.min(LATEST_MS >> timestamp);
        let tick_ms = prop_oneof![Just(1), Just(10.min(most)), Just(most), 1..=most];
        (Just((timestamp, worker, sequence)), tick_ms)
    });
    let all = with_ticks.prop_flat_map(|(bits, tick_ms)| {
        let latest = LATEST_MS - (tick_ms << bits.0);
        let epoch_ms = prop_oneof![Just(0), Just(latest), 0..=latest];
        (Just(bits), Just(tick_ms), epoch_ms, order())
    });
    all.prop_map(|((timestamp_bits, worker_bits, sequence_bits), tick_ms, epoch_ms, order)| {
        let fields = LayoutFields { epoch_ms, tick_ms, timestamp_bits, worker_bits, sequence_bits, order };
        Layout::new(fields).unwrap()
    })
}

/// 0 to `most`, its ends often.
fn up_to(most: u64) -> impl Strategy<Value = u64> {
    prop_oneof![2 => 0..=most, 1 => Just(0), 1 => Just(most)]
}

/// A layout, and parts that it holds; the time anywhere in its tick.
fn layout_and_parts(count: usize) -> impl Strategy<Value = (Layout, Vec<Parts>)> {
    layout().prop_flat_map(move |layout| {
        let life = (layout.expires_at_ms() - 1 - layout.epoch_ms()) as u64;
        let worker = up_to(u64::from(layout.max_worker_id()));
        let sequence = up_to(u64::from(layout.max_sequence()));
        let parts = (up_to(life), worker, sequence).prop_map(move |(since, worker, sequence)| Parts {
            timestamp_ms: layout.epoch_ms() + since as i64,
            worker_id: worker as u32,
            sequence: sequence as u32,
        });
        (Just(layout), prop::collection::vec(parts, count))
    })
}

fn id_of(layout: &Layout, parts: &Parts) -> leafid_core::Result<i64> {
    layout.compose(parts.timestamp_ms, parts.worker_id, parts.sequence)
}

fn floored(layout: &Layout, parts: &Parts) -> Parts {
    let since = parts.timestamp_ms - layout.epoch_ms();
    Parts { timestamp_ms: parts.timestamp_ms - since % layout.tick_ms(), ..*parts }
}

#[test]
fn decode_is_the_inverse_of_compose_for_every_layout() {
    holds(4_000, layout_and_parts(1), |(layout, parts)| {
        let id = id_of(&layout, &parts[0]).unwrap();
        prop_assert!(id >= 0);
        prop_assert_eq!(layout.decode(id), Ok(floored(&layout, &parts[0])));
        prop_assert_eq!(parse_id(&id.to_string()), Ok(id));
        Ok(())
    });
}

#[test]
fn compose_is_the_inverse_of_decode_for_every_number() {
    let number = prop_oneof![any::<i64>(), 0..=i64::MAX, Just(0), Just(i64::MAX), Just(-1), Just(i64::MIN)];
    holds(4_000, (layout(), number, 0..63u32), |(layout, number, shift)| {
        for id in [number, number >> shift] {
            let fields = layout.fields();
            let bits = fields.timestamp_bits + fields.worker_bits + fields.sequence_bits;
            let decoded = layout.decode(id);
            prop_assert_eq!(decoded.is_ok(), id >= 0 && i128::from(id) < 1 << bits, "{}", id);
            if let Ok(parts) = decoded {
                prop_assert_eq!(id_of(&layout, &parts), Ok(id));
            }
        }
        Ok(())
    });
}

#[test]
fn ids_are_ordered_by_tick_and_then_as_the_layout_says() {
    holds(4_000, layout_and_parts(2), |(layout, parts)| {
        let key = |parts: &Parts| {
            let (worker, sequence) = (parts.worker_id, parts.sequence);
            let low = match layout.fields().order {
                Order::WorkerSequence => (worker, sequence),
                Order::SequenceWorker => (sequence, worker),
            };
            (layout.tick_at(parts.timestamp_ms), low)
        };
        let (one, other) = (id_of(&layout, &parts[0]).unwrap(), id_of(&layout, &parts[1]).unwrap());
        prop_assert_eq!(one.cmp(&other), key(&parts[0]).cmp(&key(&parts[1])));
        Ok(())
    });
}

#[test]
fn parts_outside_a_layout_are_refused() {
    let whole = (any::<i64>(), any::<u32>(), any::<u32>());
    holds(4_000, (layout(), whole, 0..64u32), |(layout, (time, worker, sequence), shift)| {
        let (worker, sequence) = (worker >> (shift / 2), sequence >> (shift / 2));
        let timestamp_ms = layout.epoch_ms().saturating_add(time >> shift.min(62));
        let fits = worker <= layout.max_worker_id() && sequence <= layout.max_sequence();
        let code = match layout.compose(timestamp_ms, worker, sequence) {
            Ok(id) => {
                prop_assert!(id >= 0);
                None
            }
            Err(error) => Some(error.code()),
        };
        let expected = match timestamp_ms {
            _ if !fits => Some(Code::InvalidArgument),
            ms if ms < layout.epoch_ms() => Some(Code::BeforeEpoch),
            ms if ms >= layout.expires_at_ms() => Some(Code::TimeExhausted),
            _ => None,
        };
        prop_assert_eq!(code, expected);
        Ok(())
    });
}

#[test]
fn a_layout_is_accepted_when_its_ids_and_times_fit_and_only_then() {
    let bits = || prop_oneof![6 => -1..=64i64, 1 => any::<i64>()];
    let number =
        |most: i64| prop_oneof![4 => -1..=most + 1, 1 => any::<i64>(), 1 => Just(most), 1 => Just(1)];
    let fields = (number(LATEST_MS), number(3_600_000), (bits(), bits(), bits()), order());
    holds(10_000, fields, |(epoch_ms, tick_ms, (timestamp_bits, worker_bits, sequence_bits), order)| {
        let fits = (0..=LATEST_MS).contains(&epoch_ms)
            && (1..=3_600_000).contains(&tick_ms)
            && (1..=62).contains(&timestamp_bits)
            && (0..=31).contains(&worker_bits)
            && (0..=31).contains(&sequence_bits)
            && timestamp_bits + worker_bits + sequence_bits <= 63
            && i128::from(epoch_ms) + (i128::from(tick_ms) << timestamp_bits) <= i128::from(LATEST_MS);
        let fields = LayoutFields { epoch_ms, tick_ms, timestamp_bits, worker_bits, sequence_bits, order };
        match Layout::new(fields) {
            Ok(layout) => prop_assert!(fits && layout.fields() == fields),
            Err(error) => prop_assert!(!fits && error.code() == Code::InvalidArgument, "{}", error),
        }
        Ok(())
    });
}

#[test]
fn an_id_has_one_text_in_each_form() {
    let form = prop::sample::select(TextForm::ALL.to_vec());
    holds(4_000, (form.clone(), any::<i64>(), 0..64u32), |(form, number, shift)| {
        let id = (number & i64::MAX) >> shift;
        prop_assert_eq!(form.parse_id(&form.format_id(id).unwrap()), Ok(id));
        Ok(())
    });
    holds(
        4_000,
        (
            form,
            "[0-9A-Za-z]{0,20}|[0-7][0-9A-HJKMNP-TV-Z]{12}|[0-9A][0-9A-Za-z]{10}|\
             [0-8][0-9a-f]{7}-[0-9a-f]{4}-[78][0-9a-f]{3}-[89abc][048c]0[01]-0{12}",
        ),
        |(form, text)| {
            if let Ok(id) = form.parse_id(&text) {
                prop_assert_eq!(form.format_id(id), Ok(text));
            }
            Ok(())
        },
    );
}
