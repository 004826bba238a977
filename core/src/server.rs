//! Sources and servers: which of them may be asked now.

pub(crate) mod circuit_breaker;
#[cfg(feature = "wire")]
pub(crate) mod fail_over;
pub(crate) mod health;
