//! What differs between the databases.

/// One of the databases.
pub(crate) struct Dialect {
    pub(crate) name: &'static str,
    /// Begins a transaction that reads committed rows and can write. A replica that can only be read refuses it.
    pub(super) begin: &'static str,
    /// Behind a SELECT: locks its rows.
    pub(super) for_update: &'static str,
    /// What is before and behind the hexadecimal digits of a text in UTF-8. No setting of a session changes its meaning.
    pub(super) text: (&'static str, &'static str),
    /// An expression: Unix milliseconds of the database's clock, now and not when the transaction began.
    pub(super) now_ms: &'static str,
    /// What a statement that raises `max_id` sets as well, unless the database does so by itself.
    pub(super) touch: &'static str,
    /// A condition: the row of `leaf_alloc` was changed within the last day.
    pub(super) within_a_day: &'static str,
    /// The tag of a row as text, whatever the type of its column.
    pub(super) tag: &'static str,
    /// At the end of a CREATE TABLE.
    pub(super) table_options: &'static str,
    /// Leaf's table, as Leaf's script makes it, or as near as the database comes.
    pub(super) leaf_alloc: &'static str,
    /// Returns name and type of each column of a table, and nothing if there is no such table.
    pub(super) columns: &'static str,
    /// The largest number of a column of this type, where the database may store it for a larger one. `None`: it is no
    /// integer.
    pub(super) largest: fn(&str) -> Option<i64>,
    /// Returns each of the tables that has no transactions, as one text: its name, ` is `, and its engine.
    pub(super) untransacted: Option<&'static str>,
    /// Returns each column whose texts are not compared byte by byte, as one text: table, dot, column, and its collation.
    pub(super) unlike: Option<&'static str>,
    /// Returns the schema whose tables are used, where a user's settings choose it.
    pub(super) schema: Option<&'static str>,
    /// Returns each table of this name that lies in another schema than the one which is used, as one text, with the
    /// statements that mend it.
    pub(super) elsewhere: Option<&'static str>,
    /// Returns a number for the process that serves the connection.
    pub(super) backend: Option<&'static str>,
    /// An INSERT that does nothing if the row exists: what is before VALUES, and what is behind.
    pub(super) insert_new: (&'static str, &'static str),
    /// Settings without which a committed row can be lost.
    pub(super) durable: &'static [Durable],
    /// A statement that gives a table of such a column, in the place of `?`, the collation of those that are made here.
    pub(super) collates: &'static str,
}

/// A setting without which a committed row can be lost.
pub(super) struct Durable {
    pub(super) setting: &'static str,
    /// It returns one text for each value that is to be looked at.
    pub(super) query: &'static str,
    pub(super) good: &'static [&'static str],
    /// What happens with another value.
    pub(super) or: &'static str,
    /// The statement that mends it, with `?` for the value.
    pub(super) mend: &'static str,
}
