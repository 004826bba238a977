//! Models of leafid: a few processes, the world around them, and its faults. Every order of their events is tried, within
//! [`bounds`]. The decisions are those of the real core; a model does what the host does with them, and what a disk, a
//! server or a source may do. A model's file begins with what it assumes.
//!
//! A state is plain data. [`check::holds`] tries all states that its events lead to, and asserts the properties in each.

pub mod bounds;
pub mod check;
mod generator;
pub mod lease;
pub mod record;
pub mod supply;
pub mod worker_run;
