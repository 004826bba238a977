//! The pool of threads as it ships, and what it asks of other parts of the host.

// rustfmt looks for its tests.
#[rustfmt::skip]
#[path = "../../../bindings/rust/src/tasks/fetch_pool.rs"]
pub(crate) mod fetch_pool;
#[path = "../../../bindings/rust/src/tasks/interrupt.rs"]
pub(crate) mod interrupt;

pub(crate) mod user_calls {
    use leafid_core::run::SourceFailure;

    pub(crate) type Answer<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

    pub(crate) fn guarded<T>(call: impl FnOnce() -> Answer<T>) -> Result<T, SourceFailure> {
        let told = |error: Box<dyn std::error::Error + Send + Sync>| match error.downcast() {
            Ok(error) => SourceFailure::Coded(*error),
            Err(error) => SourceFailure::Text(error.to_string()),
        };
        let code = std::panic::AssertUnwindSafe(|| call().map_err(told));
        std::panic::catch_unwind(code).unwrap_or(Err(SourceFailure::Panicked))
    }
}

pub(crate) mod with_timeout {
    use std::time::Duration;

    pub(crate) enum Timed<T> {
        Done(T),
        Out,
        Forked,
    }

    pub(crate) fn run<T>(_patience: Duration, run: impl FnOnce() -> T) -> Timed<T> {
        Timed::Done(run())
    }
}
