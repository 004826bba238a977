//! The store: the database that all servers share. It is the only place that knows what was given.
//!
//! | What could go wrong | Rule |
//! | --- | --- |
//! | two servers read one counter | each change is one transaction, and its first statement takes the lock |
//! | the answer to a commit is lost | an error; the next attempt takes a new range |
//! | a caller gives up in the middle of a transaction | a transaction runs in a task of its own |
//! | an answer comes after its time-out | the connection is closed, and never used for another request |

mod alloc;
mod connection;
mod dialect;
mod driver;
mod etcd;
mod handle;
mod jdbc;
mod lease_rows;
mod mysql;
mod postgres;
mod schema;
mod servers;
mod settings;
mod sql;
mod sqlite;
mod sqlite_file;
mod stride;
mod tag_name;
mod tag_rows;
mod transaction;
mod workers;
mod workers_table;

pub(crate) use handle::Store;
pub(crate) use lease_rows::LeaseRow;
pub(crate) use settings::{Settings, check_format};
pub(crate) use stride::Stride;
pub(crate) use tag_rows::{TagChange, TagRow};
pub(crate) use workers::{Step, Writes};
