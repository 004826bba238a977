//! Sources and servers: which may be asked now.

pub(crate) mod circuit_breaker;
pub(crate) mod health;
