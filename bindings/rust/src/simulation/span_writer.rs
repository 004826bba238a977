//! Tests of the extension of a span, and of the record after a clean close.

use super::*;
use crate::snowflake::span_writer::{Extension, SpanResult};

fn ended(extended: &Extension) -> &'static str {
    match extended {
        Extension::NotNeeded => "not needed",
        Extension::Tried(SpanResult::Granted) => "granted",
        Extension::Tried(SpanResult::NoRoom) => "no room",
        Extension::Tried(SpanResult::Failed(_)) => "failed",
        Extension::LeaseShort => "leased",
    }
}

#[test]
fn a_span_is_extended_once_half_of_it_is_used_and_there_is_room() {
    // The first span is of 500 ms.
    for (used, clock_ms, what) in [
        (0, 0, "not needed"),
        (249, 0, "not needed"),
        (249, 249, "not needed"),
        (250, 250, "granted"),
        // Ahead of the clock there is room for 8 ticks.
        (495, 0, "not needed"),
        (496, 0, "granted"),
        (500, 500, "granted"),
        (500, 5_000, "granted"),
        // Behind by more than the rules allow.
        (499, -6_000, "not needed"),
        (500, -6_000, "no room"),
    ] {
        let world = World::new();
        let process = world.process();
        let open = process.open(builder()).unwrap();
        let mut span_writer = lock(&open.generator.span_writer);
        let span_writer = span_writer.as_mut().unwrap();
        let run = span_writer.file.record().run;
        assert_eq!(run.until - run.from, 500);
        let (generator, now_ms) = (&open.generator, START_MS + clock_ms);
        let extended = span_writer.extend(&generator.env, &generator.core, run.from + used, now_ms);
        assert_eq!(ended(&extended), what, "{used} ticks used, the clock at {clock_ms} ms");
    }
}

#[test]
fn a_clean_close_notes_the_clock_so_that_a_step_back_since_is_noticed() {
    let world = World::new();
    let process = world.process();
    let open = process.open(builder()).unwrap();
    open.next().unwrap();
    world.pass(60_000);
    process.close(open);
    world.set_clock(-6_000);
    assert_eq!(world.process().open(builder()).err().unwrap().code(), Code::ClockBackwards);
    world.set_clock(2_000);
    world.process().open(builder()).unwrap();
}
