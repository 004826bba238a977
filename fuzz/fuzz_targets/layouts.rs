//! Layouts, ids and their texts, and a generator of whatever layout under whatever clock.
#![no_main]

use leafid::{Layout, LayoutFields, Order, TextForm, Utc, parse_id};
use leafid_core::{OnClockBackwards, OnExhausted, Rules, Snowflake, Span};
use leafid_fuzz::{Input, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let text = input.text();
    texts(&text);
    text_forms(&text);
    let Some(layout) = layout(&mut input) else { return };
    composes(&layout, &mut input);
    decodes(&layout, input.number());
    issues(layout, &mut input);
});

/// By its text, its name, or its fields.
fn layout(input: &mut Input<'_>) -> Option<Layout> {
    let made = match input.byte() % 3 {
        0 => Layout::parse(&input.text()),
        1 => Ok(Layout::PRESETS[input.below(4)].1),
        _ => {
            let fields = LayoutFields {
                epoch_ms: input.number(),
                tick_ms: input.number(),
                timestamp_bits: input.number(),
                worker_bits: input.number(),
                sequence_bits: input.number(),
                order: if input.flag() { Order::SequenceWorker } else { Order::WorkerSequence },
            };
            let made = Layout::new(fields);
            if let Ok(layout) = &made {
                assert_eq!(layout.fields(), fields);
            }
            made
        }
    };
    let layout = made.map_err(|error| check(&error)).ok()?;
    let fields = layout.fields();
    let bits = fields.timestamp_bits + fields.worker_bits + fields.sequence_bits;
    assert!(bits <= 63 && fields.timestamp_bits >= 1 && layout.expires_at_ms() <= 1 << 53, "{fields:?}");
    assert_eq!(Layout::new(fields).as_ref(), Ok(&layout));
    // Its text has its bits, if not the rest of a layout without a name.
    if let Ok(read) = Layout::parse(&layout.to_string()) {
        assert_eq!((read.last_tick(), read.max_sequence()), (layout.last_tick(), layout.max_sequence()));
    }
    Some(layout)
}

/// Text that may be an id, and the text of a time.
fn texts(text: &str) {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let expected = match text.trim_start_matches('0') {
        "" => Some(0),
        rest => rest.parse::<u128>().ok().and_then(|id| i64::try_from(id).ok()),
    };
    let expected = expected.filter(|_| digits);
    match parse_id(text) {
        Ok(id) => {
            assert_eq!(Some(id), expected, "{text:?}");
            assert_eq!(parse_id(&id.to_string()), Ok(id));
        }
        Err(error) => {
            assert_eq!(expected, None, "{text:?}");
            check(&error);
        }
    }
}

/// A text in each form: only the one that the form makes of an id.
fn text_forms(text: &str) {
    for form in TextForm::ALL {
        match form.parse_id(text) {
            Ok(id) => assert_eq!(form.format_id(id).as_deref(), Ok(text)),
            Err(error) => check(&error),
        }
    }
}

/// The bits of parts, without the code under test.
fn bits_of(fields: &LayoutFields, timestamp_ms: i64, worker_id: u32, sequence: u32) -> Option<i64> {
    let since = i128::from(timestamp_ms) - i128::from(fields.epoch_ms);
    let tick = since.div_euclid(i128::from(fields.tick_ms));
    let fits = |value: i128, bits: i64| value >= 0 && value < 1 << bits;
    let (worker, sequence) = (i128::from(worker_id), i128::from(sequence));
    if !fits(tick, fields.timestamp_bits)
        || !fits(worker, fields.worker_bits)
        || !fits(sequence, fields.sequence_bits)
    {
        return None;
    }
    let low = match fields.order {
        Order::WorkerSequence => worker << fields.sequence_bits | sequence,
        Order::SequenceWorker => sequence << fields.worker_bits | worker,
    };
    i64::try_from(tick << (fields.worker_bits + fields.sequence_bits) | low).ok()
}

fn composes(layout: &Layout, input: &mut Input<'_>) {
    // Where mistakes are made: at both ends.
    let timestamp_ms = match input.byte() % 4 {
        0 => layout.expires_at_ms() + input.below(3) as i64 - 2,
        1 => layout.epoch_ms() + input.below(3) as i64 - 2,
        _ => input.number(),
    };
    let (worker_id, sequence) = (input.number() as u32, input.number() as u32);
    let expected = bits_of(&layout.fields(), timestamp_ms, worker_id, sequence);
    match layout.compose(timestamp_ms, worker_id, sequence) {
        Ok(id) => {
            assert_eq!(Some(id), expected);
            let parts = layout.decode(id).expect("what was composed");
            assert_eq!((parts.worker_id, parts.sequence), (worker_id, sequence));
            assert!((0..layout.tick_ms()).contains(&(timestamp_ms - parts.timestamp_ms)));
            time(parts.timestamp_ms);
        }
        Err(error) => {
            assert_eq!(expected, None);
            check(&error);
        }
    }
}

fn decodes(layout: &Layout, id: i64) {
    match layout.decode(id) {
        Ok(parts) => {
            assert!(id >= 0);
            assert_eq!(layout.compose(parts.timestamp_ms, parts.worker_id, parts.sequence), Ok(id));
        }
        Err(error) => {
            let fields = layout.fields();
            let bits = fields.timestamp_bits + fields.worker_bits + fields.sequence_bits;
            assert!(id < 0 || i128::from(id) >= 1 << bits);
            check(&error);
        }
    }
}

/// A time's text says that time: days as in Howard Hinnant's days_from_civil.
fn time(ms: i64) {
    let text = Utc(ms).to_string();
    let numbers: Vec<i64> = text
        .trim_end_matches('Z')
        .split(['-', 'T', ':', '.'])
        .map(|part| part.parse().expect("digits"))
        .collect();
    let [year, month, day, hour, minute, second, milli] = numbers[..] else { panic!("{text}") };
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days =
        era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    assert_eq!((((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000 + milli, ms, "{text}");
}

/// Ids go up, within the spans that were granted, with this worker id, and end with the seal.
fn issues(layout: Layout, input: &mut Input<'_>) {
    let rules = Rules {
        on_clock_backwards: if input.flag() { OnClockBackwards::Wait } else { OnClockBackwards::Continue },
        max_backwards_ms: input.number().clamp(0, 3_600_000),
        on_exhausted: if input.flag() { OnExhausted::Borrow } else { OnExhausted::Wait },
        random_start: input.number().clamp(0, 1_000_000) as u32,
    };
    let worker_id = (input.number() as u32) & layout.max_worker_id();
    let from = input.number().unsigned_abs() % (layout.last_tick() + 1);
    let flake = Snowflake::new(layout, rules, worker_id, from, input.number() as u64);
    let mut spans: Vec<Span> = Vec::new();
    let (mut now_ms, mut last, mut until) = (layout.tick_start_ms(from), None, from);
    for _ in 0..96 {
        if input.is_empty() {
            break;
        }
        match input.byte() % 8 {
            0 => now_ms = now_ms.saturating_add(input.number()),
            1 => now_ms = now_ms.saturating_sub(input.number()),
            2 => {
                let begin = until.saturating_add(u64::from(input.byte()) % 3);
                let span = Span { from: begin, until: begin.saturating_add(input.number().unsigned_abs()) };
                flake.grant(span);
                if !span.is_empty() && span.until <= layout.last_tick() + 1 {
                    spans.push(span);
                    until = span.until;
                }
            }
            3 if input.byte() == 0 => {
                let first_unused = flake.seal();
                if let (Some(tick), Some(id)) = (first_unused, last) {
                    let parts = layout.decode(id).expect("what was issued");
                    assert!(layout.tick_at(parts.timestamp_ms) < Some(tick), "{tick} after {parts:?}");
                }
                assert!(flake.next(now_ms).is_err() && flake.seal().is_none());
                return;
            }
            how => {
                let (before, most) = (last, if how < 6 { 1 } else { 1 + input.below(40) });
                let Ok(run) = flake.reserve(now_ms, most) else { continue };
                assert!((1..=most).contains(&run.count));
                for n in 0..run.count {
                    let id = run.first + n as i64 * run.stride;
                    assert!(last.is_none_or(|last| id > last), "{id} after {before:?}");
                    last = Some(id);
                    let parts = layout.decode(id).expect("what was issued");
                    assert_eq!(parts.worker_id, worker_id);
                    let tick = layout.tick_at(parts.timestamp_ms).expect("of the layout");
                    assert!(
                        spans.iter().any(|span| (span.from..span.until).contains(&tick)),
                        "{tick} {spans:?}"
                    );
                }
            }
        }
    }
}
