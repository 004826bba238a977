//! The segments of leafid, compiled with threads, locks and time of shuttle's and of `world.rs`, and the models of them.
#![allow(
    unused,
    unexpected_cfgs,
    unreachable_pub,
    clippy::all,
    reason = "most of it are copies of parts of other crates"
)]

include!(concat!(env!("OUT_DIR"), "/segments.rs"));

pub(crate) mod os;
pub mod run;
pub mod world;

/// What the copies ask of other parts of the host.
pub(crate) mod tasks {
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
    pub(crate) mod interrupt {
        pub(crate) type Interrupted<'a> = &'a mut dyn FnMut() -> bool;
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
}
pub(crate) use run::is;
