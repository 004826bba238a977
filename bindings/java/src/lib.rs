//! The JVM binding, which `java/` calls by JNI. It converts values, calls the host, and has no logic.
//!
//! A handle is a pointer that an object of Java holds, and frees when that object has gone. Handles are passed to native
//! methods of that object: while one runs, the object is reachable. Options come as rows of texts, by the names of the
//! host's table. A failure is thrown as `io.leafid.LeafidException`.
//!
//! No native method waits but those that say so: a virtual thread would hold its carrier. And no thread of leafid calls
//! Java: what it has for Java waits in [`events`], from where a thread of Java takes it.

mod call;
pub mod events;
pub mod ids;
pub mod layout;
mod options;
pub mod public_ids;
pub mod segments;
pub mod snowflake;
mod source;
mod stats;
pub mod tag;
