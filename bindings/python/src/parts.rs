//! `leafid.decode`, `leafid.compose`, `leafid.first_id_at`, `leafid.last_id_at` and `leafid.Parts`.

use crate::arguments::{int, small, text};
use crate::errors;
use crate::layout::layout;
use leafid::{Error, parse_id};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyType};

/// What an id says; made by decode.
///
/// timestamp_ms: Unix milliseconds. worker_id, sequence: 0 to 2**32 - 1.
#[pyclass(frozen, eq, hash, module = "leafid")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Parts(leafid::Parts);

#[pymethods]
impl Parts {
    #[new]
    fn new(
        timestamp_ms: &Bound<'_, PyAny>,
        worker_id: &Bound<'_, PyAny>,
        sequence: &Bound<'_, PyAny>,
    ) -> PyResult<Parts> {
        Ok(Parts(leafid::Parts {
            timestamp_ms: int("timestamp_ms", timestamp_ms)?,
            worker_id: small("worker_id", worker_id)?,
            sequence: small("sequence", sequence)?,
        }))
    }

    /// When the id was made: Unix milliseconds, floored to the layout's tick.
    #[getter]
    fn timestamp_ms(&self) -> i64 {
        self.0.timestamp_ms
    }

    /// When the id was made: an aware datetime in UTC, exact to the millisecond.
    ///
    /// Raises InvalidArgumentError after the year 9999, which datetime cannot represent; use timestamp_ms.
    #[getter]
    fn time<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        utc(py, self.0.timestamp_ms)
    }

    /// The worker id.
    #[getter]
    fn worker_id(&self) -> u32 {
        self.0.worker_id
    }

    /// The sequence number within the tick.
    #[getter]
    fn sequence(&self) -> u32 {
        self.0.sequence
    }

    fn __repr__(&self) -> String {
        let leafid::Parts { timestamp_ms, worker_id, sequence } = self.0;
        format!("leafid.Parts(timestamp_ms={timestamp_ms}, worker_id={worker_id}, sequence={sequence})")
    }

    /// For pickle and copy.
    fn __getnewargs__(&self) -> (i64, u32, u32) {
        (self.0.timestamp_ms, self.0.worker_id, self.0.sequence)
    }
}

/// Takes an id apart.
///
/// id: an int, or decimal text of digits only.
/// layout: a preset's name, bits as in "35|5|23", or a Layout. Default Leaf's.
///
/// Raises InvalidArgumentError for what is no id of the layout.
#[pyfunction]
#[pyo3(signature = (id, layout=None), text_signature = "(id, layout='leaf')")]
pub(crate) fn decode(id: &Bound<'_, PyAny>, layout: Option<&Bound<'_, PyAny>>) -> PyResult<Parts> {
    let py = id.py();
    let layout = given_layout(layout)?;
    layout.decode(given_id(id)?).map(Parts).map_err(|error| errors::raise(py, &error))
}

/// An id that is an int, or decimal text.
pub(crate) fn given_id(id: &Bound<'_, PyAny>) -> PyResult<i64> {
    match id.cast::<PyString>() {
        Ok(_) => parse_id(&text("id", id)?).map_err(|error| errors::raise(id.py(), &error)),
        Err(_) => int("id", id),
    }
}

/// Makes the id of these parts: the reverse of decode.
///
/// timestamp_ms: Unix milliseconds, floored to the layout's tick.
/// worker_id, sequence: within their bits of the layout.
/// layout: a preset's name, bits as in "35|5|23", or a Layout. Default Leaf's.
///
/// Raises InvalidArgumentError, BeforeEpochError and TimeExhaustedError.
#[pyfunction]
#[pyo3(
    signature = (timestamp_ms, worker_id, sequence, layout=None),
    text_signature = "(timestamp_ms, worker_id, sequence, layout='leaf')"
)]
pub(crate) fn compose(
    timestamp_ms: &Bound<'_, PyAny>,
    worker_id: &Bound<'_, PyAny>,
    sequence: &Bound<'_, PyAny>,
    layout: Option<&Bound<'_, PyAny>>,
) -> PyResult<i64> {
    let (worker, number) = (small("worker_id", worker_id)?, small("sequence", sequence)?);
    let id = given_layout(layout)?.compose(int("timestamp_ms", timestamp_ms)?, worker, number);
    id.map_err(|error| errors::raise(timestamp_ms.py(), &error))
}

/// The smallest id of the tick that contains a time.
///
/// With last_id_at it finds the ids of a period, with all of its first and last tick:
/// WHERE id BETWEEN first_id_at(start) AND last_id_at(end).
///
/// timestamp: Unix milliseconds, or a datetime with a time zone.
/// layout: a preset's name, bits as in "35|5|23", or a Layout. Default Leaf's.
///
/// Raises InvalidArgumentError, BeforeEpochError and TimeExhaustedError.
#[pyfunction]
#[pyo3(signature = (timestamp, layout=None), text_signature = "(timestamp, layout='leaf')")]
pub(crate) fn first_id_at(timestamp: &Bound<'_, PyAny>, layout: Option<&Bound<'_, PyAny>>) -> PyResult<i64> {
    let id = given_layout(layout)?.first_id_at(milliseconds(timestamp)?);
    id.map_err(|error| errors::raise(timestamp.py(), &error))
}

/// The largest id of the tick that contains a time. Otherwise as first_id_at.
#[pyfunction]
#[pyo3(signature = (timestamp, layout=None), text_signature = "(timestamp, layout='leaf')")]
pub(crate) fn last_id_at(timestamp: &Bound<'_, PyAny>, layout: Option<&Bound<'_, PyAny>>) -> PyResult<i64> {
    let id = given_layout(layout)?.last_id_at(milliseconds(timestamp)?);
    id.map_err(|error| errors::raise(timestamp.py(), &error))
}

/// Unix milliseconds of an int or a datetime, rounded down.
fn milliseconds(timestamp: &Bound<'_, PyAny>) -> PyResult<i64> {
    static DATETIME: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = timestamp.py();
    if !timestamp.is_instance(DATETIME.import(py, "datetime", "datetime")?)? {
        return int("timestamp_ms", timestamp);
    }
    if timestamp.call_method0("utcoffset")?.is_none() {
        let allowed = "Unix milliseconds, or a datetime with a time zone";
        return Err(errors::raise(py, &Error::invalid("timestamp", timestamp.repr()?, allowed)));
    }
    let since = timestamp.sub(epoch(py)?)?;
    since.floor_div(delta(py)?.call1((0, 0, 1_000))?)?.extract()
}

fn given_layout(value: Option<&Bound<'_, PyAny>>) -> PyResult<leafid::Layout> {
    value.map_or(Ok(leafid::Layout::LEAF), layout)
}

fn delta(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static DELTA: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    DELTA.import(py, "datetime", "timedelta")
}

/// 1970 in UTC.
fn epoch(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static EPOCH: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let epoch = EPOCH.get_or_try_init(py, || -> PyResult<_> {
        let datetime = py.import("datetime")?;
        let zone = PyDict::new(py);
        zone.set_item("tzinfo", datetime.getattr("timezone")?.getattr("utc")?)?;
        Ok(datetime.getattr("datetime")?.call((1970, 1, 1), Some(&zone))?.unbind())
    })?;
    Ok(epoch.bind(py))
}

/// Computed from whole days, seconds and milliseconds: a float would lose the last digits.
fn utc(py: Python<'_>, ms: i64) -> PyResult<Bound<'_, PyAny>> {
    let whole =
        (ms.div_euclid(86_400_000), ms.div_euclid(1_000).rem_euclid(86_400), ms.rem_euclid(1_000) * 1_000);
    epoch(py)?.add(delta(py)?.call1(whole)?).map_err(|error| {
        match error.is_instance_of::<PyOverflowError>(py) {
            true => {
                let shown = format!("{ms} ms ({})", leafid::Utc(ms));
                errors::raise(py, &Error::invalid("time", shown, "up to the year 9999; use timestamp_ms"))
            }
            false => error,
        }
    })
}
