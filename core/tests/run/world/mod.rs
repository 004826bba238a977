//! Two processes, each with a `WorkerRun`, on one host or on two, and a lease server for both. A state is plain data, and
//! says what may happen in it. `core/tests/run` walks at random, and `tests/model` tries all that its bounds allow.
//!
//! Assumed: a lock is held by one process at a time, and ends with it. A write that is reported as durable is there; one
//! that is not may be read again, become durable later, or be lost with its machine. An operator may reset the record
//! while no process uses it, whether there is a reason or not. The server stores the end of a span before it answers, and
//! lowers it only for a release (docs/LEASES.md). A server that breaks this, and loses a span, may give it to two hosts;
//! even then no process issues an id twice.
//!
//! Most calls end well before anything else happens. A call that is late has its effect and its end in any order with all
//! other events, or never.
//!
//! Faults: a call fails before its effect or after it; a write is torn; an end is reported twice, or as that of another
//! call; an answer is another request's; a process is killed, also in the middle of a write, or stopped while time passes;
//! a clock is set back or ahead, or stops; the server forgets a holder, or a span. Or the newest slot of the record is
//! lost, once. At random besides: a machine starts again, a process forks, a caller leaves, a process
//! closes without its server, a host is cut off from it, and a cached lease is copied.

#![allow(unreachable_pub, missing_docs, reason = "tests/model shows some of it")]

mod caches;
mod carry;
mod clock;
mod disk;
mod events;
mod kind;
mod lease_server;
mod process;
mod seen;
mod setting;
mod sources;
mod state;
mod told;

pub use events::{Event, RunBounds};
pub use setting::{Ids, Setting};
pub use state::State;
