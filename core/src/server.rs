//! Sources and servers: which of them may be asked now.

pub(crate) mod circuit_breaker;
pub(crate) mod health;
