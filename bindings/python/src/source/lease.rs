//! `leafid.ClaimRequest` and `leafid.Lease`.

use crate::arguments::{int, missing, refused, shown_fields, text, unknown};
use crate::attach::call;
use crate::value::value_class;
use leafid::Renewal;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyTuple};

const FIELDS: &str = "worker_id, from_ms, until_ms, lease_ms, token, peer_times_ms";

value_class! {
    /// The argument of a lease object's claim.
    ClaimRequest {
        /// The id space.
        name: String,
        /// 128 random bits in hex, new for each claim.
        instance: String,
        /// The worker id that this generator held before, or its parent process; None at the first claim.
        previous: Option<u32>,
        /// The clock, Unix milliseconds.
        now_ms: i64,
        /// The requested end of the span, Unix milliseconds. You may grant more or less.
        until_ms: i64,
    }
}

/// A worker id, and a span of time in which no other holder may use it.
///
/// worker_id: the worker id.
/// from_ms: where the span begins, Unix milliseconds: at or above the until_ms of every holder before.
/// until_ms: where it ends, exclusive, at most a week ahead. It is stored before it is answered.
/// lease_ms: how long the lease source keeps the id without a renewal, 1 to 604800000 ms. Default: until until_ms.
/// token: text by which the lease source knows this holder; renew and release get it back with the lease.
/// peer_times_ms: the clocks of other holders, Unix milliseconds. The claim is refused if this clock differs by 10 s
///     or more from the median of three or more.
///
/// Raises InvalidArgumentError, naming the field.
#[pyclass(frozen, eq, module = "leafid")]
#[derive(PartialEq, Eq)]
pub(crate) struct Lease(leafid::Lease);

impl From<leafid::Lease> for Lease {
    fn from(lease: leafid::Lease) -> Lease {
        Lease(lease)
    }
}

#[pymethods]
impl Lease {
    #[new]
    #[pyo3(
        signature = (worker_id, from_ms, until_ms, lease_ms=None, token=None, peer_times_ms=None),
        text_signature = "(worker_id, from_ms, until_ms, lease_ms=None, token=None, peer_times_ms=())"
    )]
    fn new(
        worker_id: &Bound<'_, PyAny>,
        from_ms: &Bound<'_, PyAny>,
        until_ms: &Bound<'_, PyAny>,
        lease_ms: Option<&Bound<'_, PyAny>>,
        token: Option<&Bound<'_, PyAny>>,
        peer_times_ms: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Lease> {
        let times = |times| times_of("peer_times_ms", times);
        Ok(Lease(leafid::Lease {
            worker_id: int("worker_id", worker_id)?,
            from_ms: int("from_ms", from_ms)?,
            until_ms: int("until_ms", until_ms)?,
            lease_ms: lease_ms.map(|ms| int("lease_ms", ms)).transpose()?,
            token: token.map(|token| text("token", token)).transpose()?,
            peer_times_ms: peer_times_ms.map(times).transpose()?.unwrap_or_default(),
        }))
    }

    /// The worker id.
    #[getter]
    fn worker_id(&self) -> i64 {
        self.0.worker_id
    }

    /// Where the span begins, Unix milliseconds.
    #[getter(from_ms)]
    fn begins_ms(&self) -> i64 {
        self.0.from_ms
    }

    /// Where the span ends, exclusive, Unix milliseconds.
    #[getter]
    fn until_ms(&self) -> i64 {
        self.0.until_ms
    }

    /// How long the lease source keeps the id without a renewal, milliseconds; None: until until_ms.
    #[getter]
    fn lease_ms(&self) -> Option<i64> {
        self.0.lease_ms
    }

    /// The token by which the lease source knows this holder, or None.
    #[getter]
    fn token(&self) -> Option<&str> {
        self.0.token.as_deref()
    }

    /// The clocks of other holders, Unix milliseconds.
    #[getter]
    fn peer_times_ms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.peer_times_ms)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        shown_fields(slf.as_any(), "Lease", FIELDS)
    }

    /// For pickle and copy.
    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let lease = &self.0;
        (
            lease.worker_id,
            lease.from_ms,
            lease.until_ms,
            lease.lease_ms,
            &lease.token,
            self.peer_times_ms(py)?,
        )
            .into_pyobject(py)
    }
}

/// Converts the result of a claim: a Lease, a mapping of its fields, or None.
pub(crate) fn lease(answer: &Bound<'_, PyAny>) -> PyResult<Option<leafid::Lease>> {
    if answer.is_none() {
        return Ok(None);
    }
    if let Ok(lease) = answer.cast::<Lease>() {
        return Ok(Some(lease.get().0.clone()));
    }
    let fields = Fields::of("claim", answer)?;
    let needed = |name| fields.get(name)?.ok_or_else(|| missing(answer, name));
    Ok(Some(leafid::Lease {
        worker_id: int("worker_id", &needed("worker_id")?)?,
        from_ms: int("from_ms", &needed("from_ms")?)?,
        until_ms: int("until_ms", &needed("until_ms")?)?,
        lease_ms: fields.int("lease_ms")?,
        token: fields.token()?,
        peer_times_ms: fields.peer_times_ms()?,
    }))
}

/// Converts the result of a renewal: the new until_ms, a Lease, a mapping of its fields with until_ms, or None.
pub(crate) fn renewal(answer: &Bound<'_, PyAny>) -> PyResult<Option<Renewal>> {
    if answer.is_none() {
        return Ok(None);
    }
    if let Ok(lease) = answer.cast::<Lease>() {
        let leafid::Lease { worker_id, until_ms, lease_ms, token, .. } = lease.get().0.clone();
        return Ok(Some(Renewal { worker_id: Some(worker_id), until_ms, lease_ms, token }));
    }
    if answer.cast::<PyMapping>().is_err() {
        return Ok(Some(Renewal { until_ms: int("until_ms", answer)?, ..Renewal::default() }));
    }
    let fields = Fields::of("renew", answer)?;
    let until_ms = fields.get("until_ms")?.ok_or_else(|| missing(answer, "until_ms"))?;
    // Not used, but checked: a wrong type is a mistake.
    fields.int("from_ms")?;
    fields.peer_times_ms()?;
    Ok(Some(Renewal {
        worker_id: fields.int("worker_id")?,
        until_ms: int("until_ms", &until_ms)?,
        lease_ms: fields.int("lease_ms")?,
        token: fields.token()?,
    }))
}

/// The integers of an iterable.
pub(crate) fn times_of(name: &str, times: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    let py = times.py();
    // Text is iterable too.
    let list = py.import("builtins")?.getattr("list")?;
    if times.is_instance_of::<pyo3::types::PyString>() || times.try_iter().is_err() {
        return Err(refused(name, times));
    }
    call(&list, &(times,).into_pyobject(py)?)?.try_iter()?.map(|time| int(name, &time?)).collect()
}

/// A mapping of a lease's fields.
struct Fields<'py>(Bound<'py, PyDict>);

impl<'py> Fields<'py> {
    /// A copy, so that a mapping's own code runs only here. Errors: not a mapping, or an unknown key.
    fn of(asked: &str, answer: &Bound<'py, PyAny>) -> PyResult<Fields<'py>> {
        let py = answer.py();
        if answer.cast::<PyMapping>().is_err() {
            return Err(refused(asked, answer));
        }
        let copy = call(py.get_type::<PyDict>().as_any(), &(answer,).into_pyobject(py)?)?;
        let fields = copy.cast_into::<PyDict>()?;
        for (key, value) in &fields {
            let name = text("a key of the lease", &key)?;
            if !FIELDS.split(", ").any(|known| known == name) {
                return Err(unknown(&name, &value, "field", FIELDS));
            }
        }
        Ok(Fields(fields))
    }

    /// `None` if the field is omitted or is None.
    fn get(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.0.get_item(name)?.filter(|value| !value.is_none()))
    }

    fn int(&self, name: &str) -> PyResult<Option<i64>> {
        self.get(name)?.map(|value| int(name, &value)).transpose()
    }

    fn token(&self) -> PyResult<Option<String>> {
        self.get("token")?.map(|token| text("token", &token)).transpose()
    }

    fn peer_times_ms(&self) -> PyResult<Vec<i64>> {
        let times = self.get("peer_times_ms")?.map(|times| times_of("peer_times_ms", &times));
        Ok(times.transpose()?.unwrap_or_default())
    }
}
