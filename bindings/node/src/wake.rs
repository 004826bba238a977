//! A thread-safe function that only wakes an event loop, which then takes the queued work. It carries no data, so a
//! closing environment that drops its calls loses nothing.

use napi::Status;
use napi::bindgen_prelude::Function;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode::NonBlocking};
use std::sync::{Arc, OnceLock, Weak};

/// The wake function of one environment. It is weak: it does not keep the process alive.
#[derive(Default)]
pub(crate) struct WakeFunction(OnceLock<ThreadsafeFunction<(), (), (), Status, false, true>>);

/// A queue for one environment, which it wakes.
pub(crate) trait Wakes: Send + Sync + 'static {
    fn wake(&self) -> &WakeFunction;
    /// The environment has ended.
    fn end(&self);
}

/// Ends the queue with the environment: it belongs to the callback, which the environment drops.
struct EndGuard<T: Wakes>(Weak<T>);

impl<T: Wakes> Drop for EndGuard<T> {
    fn drop(&mut self) {
        if let Some(queue) = self.0.upgrade() {
            queue.end();
        }
    }
}

impl WakeFunction {
    /// Does nothing before [`connect`], and after the end of the environment, when the queue is dropped too.
    pub(crate) fn wake(&self) {
        if let Some(wake) = self.0.get() {
            wake.call((), NonBlocking);
        }
    }
}

/// Makes the queue's wake function call `run`, without arguments, on this thread's event loop.
pub(crate) fn connect<T: Wakes>(queue: &Arc<T>, run: &Function<'_, (), ()>) -> napi::Result<()> {
    let ends = EndGuard(Arc::downgrade(queue));
    let wake =
        run.build_threadsafe_function::<()>().callee_handled::<false>().weak::<true>().build_callback(
            move |_| {
                let _ends = &ends;
                Ok(())
            },
        )?;
    // Set once, by the creator of the queue.
    let _ = queue.wake().0.set(wake);
    Ok(())
}
