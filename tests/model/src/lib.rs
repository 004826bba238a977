//! Models of leafid: two processes, the world around them, and its faults. Every order of their events is tried, within
//! [`bounds`]. The processes are the machines that ship; a model is their host, and does what a disk, a server or a source
//! may do. A model's file begins with what it assumes.
//!
//! A state is plain data. [`check::holds`] tries all states that its events lead to, and asserts the properties in each.

pub mod bounds;
pub mod check;
pub mod supply;
pub mod worker_run;
