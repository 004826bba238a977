//! The fields of all statistics, from which every language can loop, as it does over the options.

/// What a field is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatsOf {
    /// A snowflake.
    Snowflake,
    /// Segments.
    Segments,
    /// A server of segments.
    Server,
    /// A tag of segments.
    Tag,
}

/// The values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatsKind {
    /// An integer.
    Int,
    /// An integer, or none.
    OptionalInt,
    /// Text.
    Text,
    /// Text, or none.
    OptionalText,
    /// True or false.
    Flag,
    /// The ids left of a segment, or none.
    Segment,
    /// Statistics of several others.
    List(StatsOf),
}

/// A field of statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatsField {
    /// What it is a part of.
    pub of: StatsOf,
    /// Its name, in snake case.
    pub name: &'static str,
    /// Its values.
    pub kind: StatsKind,
}

const fn field(of: StatsOf, name: &'static str, kind: StatsKind) -> StatsField {
    StatsField { of, name, kind }
}

/// Every field.
pub const STATS: [StatsField; 35] = {
    use StatsKind::{Flag, Int, List, OptionalInt, OptionalText, Segment, Text};
    use StatsOf::{Segments, Server, Snowflake, Tag};
    [
        field(Snowflake, "name", Text),
        field(Snowflake, "worker_id", Int),
        field(Snowflake, "state_dir", Text),
        field(Snowflake, "layout", Text),
        field(Snowflake, "epoch_ms", Int),
        field(Snowflake, "expires_at_ms", Int),
        field(Snowflake, "reserved_until_ms", Int),
        field(Snowflake, "lead_ms", Int),
        field(Snowflake, "clock_lag_ms", Int),
        field(Snowflake, "lease_until_ms", OptionalInt),
        field(Snowflake, "ids", Int),
        field(Snowflake, "claims", Int),
        field(Snowflake, "handles", Int),
        field(Snowflake, "renewals", Int),
        field(Snowflake, "renewal_failures", Int),
        field(Snowflake, "last_error", OptionalText),
        field(Segments, "name", Text),
        field(Segments, "source", Text),
        field(Segments, "servers", List(Server)),
        field(Segments, "state_dir", Text),
        field(Segments, "tags", List(Tag)),
        field(Server, "url", Text),
        field(Server, "last_error", OptionalText),
        field(Tag, "tag", Text),
        field(Tag, "current", Segment),
        field(Tag, "next", Segment),
        field(Tag, "left", Int),
        field(Tag, "ids", Int),
        field(Tag, "step", Int),
        field(Tag, "fetching", Flag),
        field(Tag, "fetches", Int),
        field(Tag, "failures", Int),
        field(Tag, "waits", Int),
        field(Tag, "waiting", Int),
        field(Tag, "last_error", OptionalText),
    ]
};
