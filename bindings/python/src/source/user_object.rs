//! A user object that leafid calls. All handles that were opened with it share it.
//!
//! Each handle has its own reference, which Python's collector sees, so that an object that holds its own generator can
//! be collected. The host holds none. After the last handle, the other users keep a reference until they are gone, so
//! that a lease that was granted too late can still be released.

use crate::errors;
use leafid::{Code, Error};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Identifies an object as long as a reference to it is held.
type Identity = (usize, usize);

/// The objects of this process. Only attached threads hold these locks, and they run no Python code meanwhile.
static KNOWN: Mutex<Vec<Weak<UserObject>>> = Mutex::new(Vec::new());
static HANDLES: AtomicU64 = AtomicU64::new(0);

/// A user object.
pub(crate) struct UserObject {
    identity: Identity,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By the handle's number.
    handles: Vec<(u64, Py<PyAny>)>,
    /// Set when no handle is left.
    last: Option<Py<PyAny>>,
    /// The number of running calls that need the object's exceptions.
    asking: usize,
    raised: Option<PyErr>,
}

/// The share of a handle in a user object.
pub(crate) struct UserObjectHandle {
    target: Arc<UserObject>,
    number: u64,
    /// Whether a call fails when the object raises.
    fails: bool,
}

impl UserObject {
    /// A new reference; `None` if the collector cleared the handles.
    pub(crate) fn object<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let state = lock(&self.state);
        let object = state.handles.first().map(|(_, object)| object).or(state.last.as_ref());
        object.map(|object| object.bind(py).clone())
    }

    /// Stores an exception of the object for the waiting caller.
    pub(crate) fn note(&self, raised: &PyErr, py: Python<'_>) {
        // Cloned and dropped outside the lock, because that may run user code.
        let raised = Some(raised.clone_ref(py));
        let mut state = lock(&self.state);
        let surplus = match state.asking {
            0 => raised,
            _ => std::mem::replace(&mut state.raised, raised),
        };
        drop(state);
        drop(surplus);
    }
}

impl UserObjectHandle {
    /// A handle of this object. `fails`: whether a call fails when the object raises.
    pub(crate) fn of(object: &Bound<'_, PyAny>, identity: Identity, fails: bool) -> UserObjectHandle {
        // Outside the lock: the drop of a last reference may end a user object.
        let known: Vec<_> = lock(&KNOWN).iter().filter_map(Weak::upgrade).collect();
        // The address of an object without a reference may belong to another object now.
        let found =
            known.iter().find(|target| target.identity == identity && target.object(object.py()).is_some());
        let target = found.map(Arc::clone).unwrap_or_else(|| {
            let target = Arc::new(UserObject { identity, state: Mutex::default() });
            let mut known = lock(&KNOWN);
            known.retain(|target| target.strong_count() > 0);
            known.push(Arc::downgrade(&target));
            target
        });
        let number = HANDLES.fetch_add(1, Relaxed);
        lock(&target.state).handles.push((number, object.clone().unbind()));
        UserObjectHandle { target, number, fails }
    }

    /// The object, for later calls.
    pub(crate) fn target(&self) -> Arc<UserObject> {
        Arc::clone(&self.target)
    }

    /// Shows the reference to the collector.
    pub(crate) fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        // Nothing holds the lock while the collector runs. If it were held: objects that are not shown are kept alive.
        let Ok(state) = self.target.state.try_lock() else { return Ok(()) };
        let own = state.handles.iter().find(|(number, _)| *number == self.number);
        own.map_or(Ok(()), |(_, object)| visit.call(object))
    }

    /// Drops the reference: the collector breaks the cycle to which it belonged.
    pub(crate) fn clear(&self) {
        drop(self.take());
    }

    fn take(&self) -> Option<Py<PyAny>> {
        let mut state = lock(&self.target.state);
        let at = state.handles.iter().position(|(number, _)| *number == self.number)?;
        Some(state.handles.swap_remove(at).1)
    }
}

impl Drop for UserObjectHandle {
    fn drop(&mut self) {
        let Some(object) = self.take() else { return };
        let mut state = lock(&self.target.state);
        let surplus = match state.handles.is_empty() {
            true => state.last.replace(object),
            false => Some(object),
        };
        drop(state);
        drop(surplus);
    }
}

thread_local! {
    /// The claims that this thread runs, by the target's address and the id space.
    static CLAIMS: RefCell<Vec<(usize, String)>> = const { RefCell::new(Vec::new()) };
}

/// Runs a claim for this id space.
pub(crate) fn claiming<T>(target: &Arc<UserObject>, name: &str, run: impl FnOnce() -> T) -> T {
    CLAIMS.with_borrow_mut(|claims| claims.push((Arc::as_ptr(target) as usize, name.to_owned())));
    let result = run();
    CLAIMS.with_borrow_mut(Vec::pop);
    result
}

/// Makes a call of the host that may call these objects. An exception of one of them is the cause of the call's error.
///
/// Errors: a claim that asks the same generator that waits for it. Each time that one gave up, it would begin again.
pub(crate) fn asking<T>(
    py: Python<'_>,
    objects: &[UserObjectHandle],
    name: &str,
    call: impl FnOnce() -> PyResult<T>,
) -> PyResult<T> {
    let is_own = |object: &UserObjectHandle| {
        let target = Arc::as_ptr(&object.target) as usize;
        CLAIMS.with_borrow(|claims| claims.iter().any(|(of, space)| *of == target && space == name))
    };
    if objects.iter().any(is_own) {
        let message = format!(
            "the claim of a worker id of {name:?} asks the generator that waits for it; it can use any other one"
        );
        return Err(errors::raise(py, &Error::new(Code::WorkerLost, message)));
    }
    let failing = || objects.iter().filter(|object| object.fails);
    for object in failing() {
        lock(&object.target.state).asking += 1;
    }
    let result = call();
    let mut cause = None;
    for object in failing() {
        let mut state = lock(&object.target.state);
        state.asking -= 1;
        let raised = match state.asking {
            0 => state.raised.take(),
            _ => state.raised.as_ref().map(|raised| raised.clone_ref(py)),
        };
        drop(state);
        cause = raised.or(cause);
    }
    result.inspect_err(|error| {
        if cause.is_some() && errors::code(py, error).is_some() {
            error.set_cause(py, cause);
        }
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
