//! All options: one row each, from which every language can loop. docs/OPTIONS.md describes them.
//!
//! The arguments of calls are not in it. Their texts are in [`allowed`](super::allowed()).

use super::clock_source::ClockSource;
use super::protocol::Protocol;
use super::unknown_option::unknown_option;
use crate::spelling::Named;
use crate::{Layout, OnClockBackwards, OnExhausted, Result, Rules};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What an option is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionOf {
    /// A snowflake.
    Snowflake,
    /// Segments.
    Segments,
    /// Each of the two.
    Both,
}

impl OptionOf {
    /// Whether these have the options of `kind`, which is one of the two.
    pub fn includes(self, kind: OptionOf) -> bool {
        self == kind || self == OptionOf::Both
    }

    /// The names of its options, as a message lists them.
    pub(crate) fn names(self) -> String {
        let rows = OPTIONS.iter().filter(|row| row.of.includes(self));
        rows.map(|row| Named(row.name).to_string()).collect::<Vec<_>>().join(", ")
    }
}

/// The values that an option may have in a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// An integer.
    Int,
    /// An id, which may be above 2^53.
    Id,
    /// Text.
    Text,
    /// One of these texts.
    Word(&'static [&'static str]),
    /// True or false.
    Flag,
    /// A path, or text that is one.
    Path,
    /// Names and texts.
    Headers,
    /// A number, a range, text, URLs, a callback, or an object that leases.
    Worker,
    /// Text, or the fields of a layout.
    Layout,
    /// One text, or several.
    Urls,
    /// The starts and steps of counters, by tag.
    Tags,
    /// Several texts, or the text `last-day`.
    Prewarm,
    /// A callback.
    Callback,
}

impl OptionKind {
    /// Its name, for hosts in languages that cannot match it.
    pub const fn name(self) -> &'static str {
        match self {
            OptionKind::Int => "int",
            OptionKind::Id => "id",
            OptionKind::Text => "text",
            OptionKind::Word(_) => "word",
            OptionKind::Flag => "flag",
            OptionKind::Path => "path",
            OptionKind::Headers => "headers",
            OptionKind::Worker => "worker",
            OptionKind::Layout => "layout",
            OptionKind::Urls => "urls",
            OptionKind::Tags => "tags",
            OptionKind::Prewarm => "prewarm",
            OptionKind::Callback => "callback",
        }
    }
}

/// One option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionRow {
    /// Its name, in snake case.
    pub name: &'static str,
    /// The values that it may have.
    pub kind: OptionKind,
    /// What it is an option of.
    pub of: OptionOf,
    /// The environment variable that is read when it is not set.
    pub variable: Option<&'static str>,
    /// Its default, as docs/OPTIONS.md says it: a value, or words; with a variable, what is without that too.
    pub default: &'static str,
    /// The allowed values, for errors.
    pub allowed: &'static str,
    /// The first version that has it.
    pub since: &'static str,
    /// Whether no message shows its value.
    pub is_secret: bool,
}

impl OptionRow {
    const fn with_variable(self, variable: &'static str) -> OptionRow {
        OptionRow { variable: Some(variable), ..self }
    }

    const fn secret(self) -> OptionRow {
        OptionRow { is_secret: true, ..self }
    }
}

const fn row(
    of: OptionOf,
    name: &'static str,
    kind: OptionKind,
    default: &'static str,
    allowed: &'static str,
) -> OptionRow {
    OptionRow { name, kind, of, variable: None, default, allowed, since: "0.1.0", is_secret: false }
}

const BOOLEAN: &str = "true or false";
const MS: &str = "1 to 3600000 milliseconds";
const WORKER: &str = "a number, a range such as 0-31, local, hostname:NAME, the URL of a lease server or a callback: leafid help options";
const NAME: &str = "1 to 64 of the characters A-Z a-z 0-9 . _ -, not beginning with a dot";
const STATE_DIR: &str = "the path of a directory, as text that is not empty and holds no NUL";
const TOKEN: &str = "text that is not empty and has no control characters, or none";
const SERVERS: &str = "URLs such as http://leaf-1:8080, or file:DIR alone; or fetch, a callback, instead";

/// Every option, in the order of docs/OPTIONS.md.
pub const OPTIONS: [OptionRow; 37] = {
    use OptionKind::{Callback, Flag, Headers, Id, Int, Path, Prewarm, Tags, Text, Urls, Word, Worker};
    use OptionOf::{Both, Segments, Snowflake};
    [
        row(Snowflake, "worker", Worker, "", WORKER).with_variable("LEAFID_WORKER"),
        row(Both, "name", Text, "default", NAME),
        row(Both, "state_dir", Path, "", STATE_DIR).with_variable("LEAFID_STATE_DIR"),
        row(Both, "persist", Flag, "true", BOOLEAN),
        row(Both, "shared_fs", Flag, "false", BOOLEAN),
        row(Both, "shared_group", Flag, "false", BOOLEAN).with_variable("LEAFID_SHARED_GROUP"),
        row(Snowflake, "exclusive_range", Flag, "false", BOOLEAN).with_variable("LEAFID_EXCLUSIVE_RANGE"),
        row(Snowflake, "no_record_wait_ms", Int, "0", "0 to 3600000 milliseconds; 0 is off")
            .with_variable("LEAFID_NO_RECORD_WAIT_MS"),
        row(Snowflake, "layout", OptionKind::Layout, "leaf", Layout::ALLOWED),
        row(Snowflake, "epoch_ms", Int, "the layout's", Layout::ALLOWED_EPOCH_MS),
        row(
            Snowflake,
            "on_clock_backwards",
            Word(OnClockBackwards::WORDS),
            "continue",
            OnClockBackwards::ALLOWED,
        ),
        row(
            Snowflake,
            "max_backwards_ms",
            Int,
            "5000 under continue, 5 under wait",
            OnClockBackwards::ALLOWED_MAX_MS,
        ),
        row(Snowflake, "on_exhausted", Word(OnExhausted::WORDS), "wait", OnExhausted::ALLOWED),
        row(Snowflake, "random_start", Int, "100", Rules::ALLOWED_RANDOM_START),
        row(Snowflake, "clock_source", Word(ClockSource::WORDS), "system", ClockSource::ALLOWED),
        row(Snowflake, "start_after", Id, "none", "an id of this layout, 0 to 9223372036854775807"),
        row(
            Snowflake,
            "peer_times",
            Callback,
            "none",
            "a callback that returns the clocks of peers, in Unix milliseconds",
        ),
        row(Both, "timeout_ms", Int, "2000", MS),
        row(Snowflake, "lazy", Flag, "false", BOOLEAN),
        row(Both, "token", Text, "none", TOKEN).with_variable("LEAFID_TOKEN").secret(),
        row(Both, "headers", Headers, "none", "names and values as HTTP has them").secret(),
        row(Both, "ca_file", Path, "none", "the path of a PEM file of certificates")
            .with_variable("LEAFID_CA_FILE"),
        row(Both, "request_timeout_ms", Int, "1000", MS),
        row(Both, "connect_timeout_ms", Int, "300", MS),
        row(Segments, "servers", Urls, "", SERVERS),
        row(Segments, "fetch", Callback, "", "a callback that gives segments"),
        row(Segments, "protocol", Word(Protocol::WORDS), "leaf", Protocol::ALLOWED),
        row(Segments, "step", Int, "the source's own; 1000 for a callback or a Leaf", "1 to 1000000 ids"),
        row(Segments, "adaptive", Flag, "true", BOOLEAN),
        row(Segments, "prefetch", Int, "10", "0 to 100 percent"),
        row(Segments, "tags", Tags, "none", "tags with their start and step"),
        row(Segments, "create", Flag, "false", BOOLEAN),
        row(Segments, "prewarm", Prewarm, "none", "at most 1000 tags, or those of the last day"),
        row(Segments, "keep_unused", Flag, "false", BOOLEAN),
        row(Segments, "ordered_source", Flag, "true; false for a Leaf and tinyid", BOOLEAN),
        row(Segments, "connections", Int, "4", "1 to 64"),
        row(
            Segments,
            "block_size",
            Int,
            "none",
            "2 to 1000000 ids, with protocol \"leaf\" and tags called …-xN for N ids",
        ),
    ]
};

impl OptionRow {
    /// The option of this name that one of the two kinds has. Errors: `invalid_argument`, with the one that may be meant
    /// and all that are.
    pub fn find(of: OptionOf, name: &str) -> Result<&'static OptionRow> {
        let found = find(name).filter(|row| row.of.includes(of));
        found.ok_or_else(|| unknown_option(name, &of.names()))
    }
}

/// The option of this name.
pub(crate) fn find(name: &str) -> Option<&'static OptionRow> {
    OPTIONS.iter().find(|row| row.name == name)
}
