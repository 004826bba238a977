//! The user callback that returns segments.
//!
//! The handle shows its references to Python's collector. The host holds none, so that a callable that holds its own
//! segments can be collected.

use crate::arguments::{refused, shown};
use crate::attach;
use crate::source::{awaited, described_call};
use leafid::{Answer, Code, Error, FetchRequest, Fetched, Segment, SegmentSource};
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyRange, PyRangeMethods, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of exceptions that are stored for callers, each of another tag.
const MOST_RAISED: usize = 64;

/// The callable. Only attached threads hold its locks, and they run no Python code meanwhile.
pub(crate) struct Fetch {
    callable: Mutex<Option<Py<PyAny>>>,
    takes_after: bool,
    /// The exceptions of the last fetch of each tag, without those that succeeded; the newest last. `None` after the
    /// close, because a fetch may be under way then.
    raised: Mutex<Option<VecDeque<Raised>>>,
}

struct Raised {
    tag: String,
    text: String,
    exception: Py<PyBaseException>,
}

thread_local! {
    /// The fetches that this thread runs, by the callable's address and the tag.
    static FETCHES: RefCell<Vec<(usize, String)>> = const { RefCell::new(Vec::new()) };
}

impl Fetch {
    /// Errors: it is not callable.
    pub(crate) fn of(value: &Bound<'_, PyAny>) -> PyResult<Arc<Fetch>> {
        if !value.is_callable() {
            return Err(refused("fetch", value));
        }
        Ok(Arc::new(Fetch {
            callable: Mutex::new(Some(value.clone().unbind())),
            takes_after: takes_after(value)?,
            raised: Mutex::new(Some(VecDeque::new())),
        }))
    }

    /// The source for the host.
    pub(crate) fn source(self: &Arc<Self>) -> SegmentSource {
        let fetch = Arc::clone(self);
        SegmentSource::callback(move |request| fetch.ask(request))
    }

    /// Sets the cause of an error that describes an exception of the callable.
    pub(crate) fn explain(&self, py: Python<'_>, tag: &str, error: &PyErr) {
        let raised = {
            let raised = lock(&self.raised);
            let raised = raised.iter().flatten().find(|raised| raised.tag == tag);
            raised.map(|raised| (raised.text.clone(), raised.exception.clone_ref(py)))
        };
        // An error cannot be inspected while the interpreter ends.
        let (Some((text, cause)), true) = (raised, attach::is_there()) else { return };
        let message = error.value(py).str().and_then(|text| text.extract::<String>());
        if message.is_ok_and(|message| message.contains(&text)) {
            error.set_cause(py, Some(PyErr::from_value(cause.into_bound(py).into_any())));
        }
    }

    /// Whether this thread runs the tag's fetch.
    pub(crate) fn is_asked_here(&self, tag: &str) -> bool {
        let this = self.address();
        FETCHES.with_borrow(|fetches| fetches.iter().any(|(of, name)| *of == this && name == tag))
    }

    /// Drops the exceptions and stores no more, because no caller will get them.
    pub(crate) fn forget(&self) {
        let raised = lock(&self.raised).take();
        drop(raised);
    }

    /// Shows the references to the collector.
    pub(crate) fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        // Nothing holds the lock while the collector runs. If it were held: objects that are not shown are kept alive.
        if let Ok(callable) = self.callable.try_lock() {
            visit.call(&*callable)?;
        }
        if let Ok(raised) = self.raised.try_lock() {
            raised.iter().flatten().try_for_each(|raised| visit.call(&raised.exception))?;
        }
        Ok(())
    }

    /// Drops the references: the collector breaks the cycle to which they belonged.
    pub(crate) fn clear(&self) {
        let callable = lock(&self.callable).take();
        drop(callable);
        self.forget();
    }

    fn ask(&self, request: &FetchRequest) -> Answer<Option<Fetched>> {
        let _here = Here::enter(self.address(), &request.tag);
        let answer = attach::attached(|py| self.ask_attached(py, request));
        answer.unwrap_or_else(|| Err("the Python interpreter has ended".into()))
    }

    fn ask_attached(&self, py: Python<'_>, request: &FetchRequest) -> Answer<Option<Fetched>> {
        let callable = lock(&self.callable).as_ref().map(|callable| callable.clone_ref(py));
        let Some(callable) = callable else { return Err("its callable was collected".into()) };
        match self.call(callable.bind(py), request) {
            Ok(answer) => {
                self.note(&request.tag, None);
                segment(&request.tag, &answer)
            }
            Err(raised) => {
                let (text, error) = described_call(py, &raised, "fetch", "fetch(tag, step)");
                let tag = request.tag.clone();
                self.note(&request.tag, Some(Raised { tag, text, exception: raised.into_value(py) }));
                Err(error)
            }
        }
    }

    fn call<'py>(&self, callable: &Bound<'py, PyAny>, request: &FetchRequest) -> PyResult<Bound<'py, PyAny>> {
        let py = callable.py();
        let arguments = (&request.tag, request.step).into_pyobject(py)?;
        let after = PyDict::new(py);
        if self.takes_after {
            after.set_item("after", request.after)?;
        }
        awaited(attach::call_with(callable, &arguments, Some(&after))?)
    }

    fn note(&self, tag: &str, mut raised: Option<Raised>) {
        // Dropped outside the lock, because the drop may run user code.
        let mut surplus = Vec::new();
        if let Some(kept) = &mut *lock(&self.raised) {
            if let Some(at) = kept.iter().position(|raised| raised.tag == tag) {
                surplus.extend(kept.remove(at));
            }
            kept.extend(raised.take());
            if kept.len() > MOST_RAISED {
                surplus.extend(kept.pop_front());
            }
        }
        drop((surplus, raised));
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }
}

/// Whether a callable has a parameter of this name. False if it cannot be inspected.
fn takes_after(callable: &Bound<'_, PyAny>) -> PyResult<bool> {
    let inspect = callable.py().import("inspect")?;
    let Ok(signature) = inspect.call_method1("signature", (callable,)) else { return Ok(false) };
    let parameter = signature.getattr("parameters")?.call_method1("get", ("after",))?;
    if parameter.is_none() {
        return Ok(false);
    }
    let kind = parameter.getattr("kind")?;
    let class = inspect.getattr("Parameter")?;
    Ok(kind.eq(class.getattr("POSITIONAL_OR_KEYWORD")?)? || kind.eq(class.getattr("KEYWORD_ONLY")?)?)
}

/// Converts a range, a pair, or None for an unknown tag.
fn segment(tag: &str, answer: &Bound<'_, PyAny>) -> Answer<Option<Fetched>> {
    if answer.is_none() {
        return Ok(None);
    }
    let (start, end, stride) = bounds(answer).ok_or_else(|| {
        let message = format!(
            "the fetch of the tag {tag:?} answered {}; allowed: range(start, end), (start, end), or None for an unknown tag",
            shown(answer)
        );
        Error::new(Code::SourceInvalid, message)
    })?;
    Ok(Some(Segment::new(start, end, stride)?.into()))
}

fn bounds(answer: &Bound<'_, PyAny>) -> Option<(i64, i64, i64)> {
    if let Ok(range) = answer.cast::<PyRange>() {
        let (start, stop, step) = (range.start().ok()?, range.stop().ok()?, range.step().ok()?);
        return Some((start as i64, stop as i64, step as i64));
    }
    let pair = match answer.cast::<PyList>() {
        Ok(list) => list.to_tuple(),
        Err(_) => answer.cast::<PyTuple>().ok()?.clone(),
    };
    let bound = |at| crate::arguments::int("end", &pair.get_item(at).ok()?).ok();
    (pair.len() == 2).then_some(())?;
    Some((bound(0)?, bound(1)?, 1))
}

/// While it exists, it records which fetch this thread runs.
struct Here;

impl Here {
    fn enter(address: usize, tag: &str) -> Here {
        FETCHES.with_borrow_mut(|fetches| fetches.push((address, tag.to_owned())));
        Here
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        FETCHES.with_borrow_mut(Vec::pop);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
