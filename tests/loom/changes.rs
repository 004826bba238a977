//! What is changed in the sources: for loom, and for the mutants that the models must catch.

/// A text, what stands in its place, and how often it is there.
pub type Change = (&'static str, &'static str, usize);

/// Sources of the host that are modelled besides the core's.
pub const HOSTS: &[&str] = &["os/per_process.rs"];

/// loom's atomics, which are made at run time, so that what makes them is no `const fn`.
pub const FOR_LOOM: &[(&str, Change)] = &[
    ("atomic.rs", ("use core::sync::atomic::", "use loom::sync::atomic::", 1)),
    ("segment/double_buffer.rs", ("pub const fn new() -> (DoubleBuffer", "pub fn new() -> (DoubleBuffer", 1)),
    ("segment/double_buffer.rs", ("const fn unused()", "fn unused()", 1)),
    ("segment/double_buffer.rs", ("[const { Slot::unused() }; 2]", "[Slot::unused(), Slot::unused()]", 1)),
    ("time/clock_filter.rs", ("pub const fn new()", "pub fn new()", 1)),
    ("per_process.rs", ("use std::sync::atomic::", "use loom::sync::atomic::", 1)),
    ("per_process.rs", ("pub(crate) const fn new()", "pub(crate) fn new()", 1)),
    // The model's own: which process it is changes there by no fork.
    ("per_process.rs", ("use super::process;", "use crate::process;", 1)),
    ("per_process.rs", ("*self.node.get_mut()", "self.node.with_mut(|node| *node)", 1)),
];

/// Each with the file that it is made of. The models that must catch it say so by its name.
pub const MUTANTS: &[(&str, &str, &[Change])] = &[
    // The generation of the state is its whole value, 64 bits that never come again. Here only the lowest is compared.
    (
        "one_bit_state",
        "snowflake/generator.rs",
        &[("self.next.0.compare_exchange_weak(at, ", "crate::one_bit(&self.next.0, at, ", 2)],
    ),
    (
        "one_bit_ticket",
        "segment/double_buffer.rs",
        &[("self.next.compare_exchange_weak(ticket, ", "crate::one_bit(&self.next, ticket, ", 2)],
    ),
    (
        "one_bit_process",
        "per_process.rs",
        &[("generation == process::generation()", "generation & 1 == process::generation() & 1", 2)],
    ),
    // Snowflake.
    (
        "mark_in_two_steps",
        "snowflake/generator.rs",
        &[("self.next.0.swap(SEALED, Relaxed)", "crate::in_two_steps(&self.next.0, SEALED)", 1)],
    ),
    (
        "bound_before_the_gap",
        "snowflake/generator.rs",
        &[(
            "if span.from > self.until.load(Relaxed) {",
            "if self.until.fetch_max(span.until, Release) < span.from {",
            1,
        )],
    ),
    (
        "grant_undoes_the_seal",
        "snowflake/generator.rs",
        &[("self.next.0.fetch_max(begin, Relaxed)", "self.next.0.swap(begin, Relaxed)", 1)],
    ),
    ("clock_goes_back", "snowflake/generator.rs", &[("if now >= tick {", "if at != SEALED {", 1)]),
    (
        "pace_not_compared",
        "snowflake/generator.rs",
        &[(
            "self.pace.compare_exchange(found, left, Relaxed, Relaxed).is_err()",
            "{ self.pace.store(left, Relaxed); false }",
            1,
        )],
    ),
    (
        "outside_the_span",
        "snowflake/generator.rs",
        &[("target.tick >= self.until.load(Acquire)", "target.tick > self.until.load(Acquire)", 1)],
    ),
    // Buffer.
    (
        "rest_in_two_steps",
        "segment/double_buffer.rs",
        &[("self.next.swap(SEALED, Relaxed)", "crate::in_two_steps(&self.next, SEALED)", 1)],
    ),
    (
        "end_published_early",
        "segment/double_buffer.rs",
        &[("slot.end.store(filler.end, Release)", "slot.end.store(filler.end, Relaxed)", 1)],
    ),
    (
        "end_read_loosely",
        "segment/double_buffer.rs",
        &[("let end = self.end.load(Acquire);", "let end = self.end.load(Relaxed);", 1)],
    ),
    (
        "end_read_last",
        "segment/double_buffer.rs",
        &[(
            "let end = self.end.load(Acquire);\n        let first = self.first.load(Relaxed);",
            "let first = self.first.load(Relaxed);\n        let end = self.end.load(Acquire);",
            1,
        )],
    ),
    (
        "end_written_first",
        "segment/double_buffer.rs",
        &[
            (
                "        slot.first.store(filler.end, Relaxed);",
                "        slot.end.store(filler.end + segment.len(), Release);\n        slot.first.store(filler.end, Relaxed);",
                1,
            ),
            ("        slot.end.store(filler.end, Release);\n", "", 1),
        ],
    ),
    (
        "filled_too_early",
        "segment/double_buffer.rs",
        &[("next != SEALED && slot.end() <= next", "next != SEALED && slot.first.load(Relaxed) <= next", 1)],
    ),
];
