//! Sources and servers: which of them may be asked now.

pub(crate) mod circuit_breaker;
#[cfg(feature = "wire")]
pub(crate) mod fail_over;
pub(crate) mod health;

#[cfg(all(feature = "parts", feature = "wire"))]
pub use fail_over::{FailOver, FailOverAction, RequestEnd};
#[cfg(feature = "parts")]
pub use health::ServerFailure;
pub use health::ServersHealth;
