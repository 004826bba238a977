//! `leafid.Error` and one subclass for each code.

use leafid::{Code, Error};
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};

/// The classes, in the order of `Code::ALL`.
static CLASSES: PyOnceLock<Vec<Py<PyType>>> = PyOnceLock::new();

const ROOT_DOC: &str = "The root of leafid's exceptions. `code` is the error's name in every language, `number` its \
    number in C, `can_retry` whether the same call can succeed later with nothing changed by hand.";

/// The exception for an error of the host.
#[cold]
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let at = Code::ALL.iter().position(|code| *code == error.code());
    match CLASSES.get(py).and_then(|classes| classes.get(at?)) {
        Some(class) => PyErr::from_type(class.bind(py).clone(), (error.message().to_owned(),)),
        None => PyRuntimeError::new_err(error.to_string()),
    }
}

/// The code of an exception of leafid.
pub(crate) fn code(py: Python<'_>, error: &PyErr) -> Option<Code> {
    let classes = CLASSES.get(py)?;
    let at = classes.iter().position(|class| error.is_instance(py, class.bind(py)))?;
    Code::ALL.get(at).copied()
}

/// Creates the classes and adds them to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let exception = py.get_type::<PyException>();
    let value_error = py.get_type::<PyValueError>();
    let root = class("Error", ROOT_DOC, Code::Internal, PyTuple::new(py, [&exception])?)?;
    module.add("Error", &root)?;
    let mut classes = Vec::with_capacity(Code::ALL.len());
    for code in Code::ALL {
        let bases = match code {
            Code::InvalidArgument => PyTuple::new(py, [&root, &value_error])?,
            _ => PyTuple::new(py, [&root])?,
        };
        let name = class_name(code);
        let class = class(&name, doc(code), code, bases)?;
        module.add(name.as_str(), &class)?;
        classes.push(class.unbind());
    }
    // If the module is loaded twice, it keeps the classes of the first time, which are the ones that are raised.
    let _ = CLASSES.set(py, classes);
    Ok(())
}

fn class<'py>(name: &str, doc: &str, code: Code, bases: Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyType>> {
    let py = bases.py();
    let members = PyDict::new(py);
    // The public module: tracebacks show it, and pickle finds the class there.
    members.set_item("__module__", "leafid")?;
    members.set_item("__doc__", doc)?;
    members.set_item("code", code.name())?;
    members.set_item("number", code.number())?;
    members.set_item("can_retry", code.can_retry())?;
    Ok(py.get_type::<PyType>().call1((name, bases, members))?.cast_into::<PyType>()?)
}

/// The class of `clock_backwards` is `ClockBackwardsError`.
fn class_name(code: Code) -> String {
    let mut name = String::new();
    for word in code.name().split('_') {
        let (first, rest) = word.split_at(1);
        name.push_str(&first.to_ascii_uppercase());
        name.push_str(rest);
    }
    name + "Error"
}

fn doc(code: Code) -> &'static str {
    match code {
        Code::InvalidArgument => {
            "An option or an argument is not of the allowed kind or outside the allowed values."
        }
        Code::ClockBackwards => "The clock is further behind the last id than the bound allows.",
        Code::BeforeEpoch => "The clock, or the requested time, is before the layout's epoch.",
        Code::TimeExhausted => "The layout's timestamp bits are used up.",
        Code::WorkerInUse => "Another generator holds the worker id, or every id of the range.",
        Code::WorkerLost => "This generator no longer holds the worker id.",
        Code::StateIo => "The state directory or file cannot be read, written or locked.",
        Code::StateCorrupt => "The state file is damaged or not leafid's.",
        Code::StateMismatch => "The state file was written with another layout or epoch.",
        Code::UnknownTag => "The source of segments does not know the tag.",
        Code::SegmentUnavailable => "No segment arrived in time.",
        Code::SegmentRegressed => "The source returned ids that it had returned before.",
        Code::SourceInvalid => "The source's response is not valid.",
        Code::WouldBlock => "The call would have to wait where waiting is not allowed.",
        Code::Closed => "The handle was closed.",
        Code::Internal => "A defect in leafid.",
        _ => "An error of leafid.",
    }
}
