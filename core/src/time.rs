//! When a thing is done again.

pub(crate) mod back_off;
