//! The process, which never forks here, and threads of leafid's own.

use crate::world;
pub(crate) use crate::world::futex;
use leafid_core::Result;
use std::ffi::CStr;
use std::io;

pub(crate) mod env;
#[path = "../../../bindings/rust/src/os/mutex.rs"]
pub(crate) mod mutex;
#[path = "../../../bindings/rust/src/os/per_process.rs"]
pub(crate) mod per_process;
pub(crate) use per_process::PerProcess;

/// Of one execution.
pub(crate) mod sync {
    pub(crate) use crate::world::sync::{Condvar, Mutex, MutexGuard, PoisonError, atomic};
    pub(crate) use crate::world::thread;
    pub(crate) use crate::world::time::Instant;
    pub(crate) use shuttle::thread_local;

    macro_rules! global {
        ($name:ident: $type:ty = $value:expr) => {
            shuttle::lazy_static! { static ref $name: $type = $value; }
        };
    }
    pub(crate) use global;
}

pub(crate) mod process {
    pub(crate) fn generation() -> u64 {
        1
    }

    #[derive(Clone, Copy)]
    pub(crate) struct GenerationWatch;

    pub(crate) fn watch_generation() -> Option<GenerationWatch> {
        Some(GenerationWatch)
    }

    impl GenerationWatch {
        pub(crate) fn is_still(self, generation: u64) -> bool {
            generation == self::generation()
        }
    }

    pub(crate) fn why_no_threads() -> Option<&'static str> {
        None
    }

    pub(crate) struct ForkHooks {
        pub(crate) before: fn(std::time::Duration),
        pub(crate) in_parent: fn(),
    }

    impl ForkHooks {
        pub(crate) const NONE: ForkHooks = ForkHooks { before: |_| {}, in_parent: || {} };
    }

    pub(crate) enum ForkOrder {
        Fetches,
    }

    pub(crate) fn at_fork(_order: ForkOrder, _hooks: &'static ForkHooks) {}
}

pub(crate) fn check_may_wait() -> Result<()> {
    Ok(())
}

pub(crate) fn check_may_work() -> Result<()> {
    Ok(())
}

pub(crate) fn without_signals<R>(action: impl FnOnce() -> R) -> R {
    action()
}

pub(crate) enum ThreadKind {
    Internal,
    UserCode,
}

pub(crate) struct Thread(shuttle::thread::JoinHandle<()>);

impl Thread {
    pub(crate) fn join(self) {
        let _ = self.0.join();
    }
}

pub(crate) fn spawn(
    name: &'static CStr,
    _kind: ThreadKind,
    run: impl FnOnce() + Send + 'static,
) -> io::Result<Thread> {
    let alive = world::Alive::new(name);
    let run = move || {
        let _alive = alive;
        run();
    };
    shuttle::thread::Builder::new().name(name.to_string_lossy().into()).spawn(run).map(Thread)
}
