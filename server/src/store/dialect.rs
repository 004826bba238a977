//! What differs between the databases.

/// One of the databases.
pub(crate) struct Dialect {
    pub(crate) name: &'static str,
    /// The largest number of connections of a server.
    pub(super) most_connections: u32,
    /// Sent once on each connection.
    pub(super) session: &'static [&'static str],
    /// Begins a transaction that reads committed rows and can write.
    pub(super) begin: &'static str,
    /// Behind a SELECT: locks its rows.
    pub(super) for_update: &'static str,
    /// Parameters are `$1`, not `?`.
    pub(super) numbered: bool,
    /// An expression: Unix milliseconds of the database's clock, now and not when the transaction began.
    pub(super) now_ms: &'static str,
    /// What a statement that raises `max_id` sets as well, unless the database does so by itself.
    pub(super) touch: &'static str,
    /// A condition: the row of `leaf_alloc` was changed within the last day.
    pub(super) within_a_day: &'static str,
    /// Behind the type of a text that is compared byte by byte.
    pub(super) binary: &'static str,
    /// The tag of a row as text, whatever the type of its column.
    pub(super) tag: &'static str,
    /// Counts the columns of a table and a name: whether it is there, without an error if it is not.
    pub(super) column: &'static str,
    /// At the end of a CREATE TABLE.
    pub(super) table_options: &'static str,
    /// Leaf's table, as Leaf's script makes it, or as near as the database comes.
    pub(super) leaf_alloc: &'static str,
    /// Returns each of the tables that has no transactions, as one text.
    pub(super) untransacted: Option<&'static str>,
    /// An INSERT that does nothing if the row exists: what is before VALUES, and what is behind.
    pub(super) insert_new: (&'static str, &'static str),
    /// Settings without which a committed row can be lost: the query of one text, its good values, what to set.
    pub(super) durable: &'static [(&'static str, &'static [&'static str], &'static str)],
}
