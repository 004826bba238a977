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
        pub(crate) type Answer<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
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
