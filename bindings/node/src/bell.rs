//! A thread-safe function that is only a bell: it says to an event loop that there is something to take. It carries
//! nothing, so that what a closing environment drops of it is nothing that anybody waits for.

use napi::Status;
use napi::bindgen_prelude::Function;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode::NonBlocking};
use std::sync::{Arc, OnceLock, Weak};

/// The bell of one environment. Weak: it does not keep the process alive.
#[derive(Default)]
pub(crate) struct Bell(OnceLock<ThreadsafeFunction<(), (), (), Status, false, true>>);

/// What is queued for an environment, and rings.
pub(crate) trait Rings: Send + Sync + 'static {
    fn bell(&self) -> &Bell;
    /// The environment has ended.
    fn end(&self);
}

/// Ends it with the environment: a part of the bell's callback, which goes with it.
struct EndsWithIt<T: Rings>(Weak<T>);

impl<T: Rings> Drop for EndsWithIt<T> {
    fn drop(&mut self) {
        if let Some(rings) = self.0.upgrade() {
            rings.end();
        }
    }
}

impl Bell {
    /// Nothing where it was not hung, or once the environment ends: then the queue is dropped as well.
    pub(crate) fn ring(&self) {
        if let Some(bell) = self.0.get() {
            bell.call((), NonBlocking);
        }
    }
}

/// Has `run` called, with nothing, on this thread's event loop whenever it rings.
pub(crate) fn hang<T: Rings>(rings: &Arc<T>, run: &Function<'_, (), ()>) -> napi::Result<()> {
    let ends = EndsWithIt(Arc::downgrade(rings));
    let bell =
        run.build_threadsafe_function::<()>().callee_handled::<false>().weak::<true>().build_callback(
            move |_| {
                let _ends = &ends;
                Ok(())
            },
        )?;
    // Hung once, by who made it.
    let _ = rings.bell().0.set(bell);
    Ok(())
}
