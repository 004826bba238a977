//! What holds for whatever comes: cases are drawn at random, and one that fails is made small.
#![allow(clippy::unwrap_used, clippy::panic)]

mod cases;
mod clocks;
mod double_buffer;
mod guards;
mod ids;
mod turns;
