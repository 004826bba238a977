//! `leafid.Layout`.

use crate::arguments::{int, shown, text};
use crate::errors;
use leafid::{LayoutFields, Order, unknown_option};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

const FIELDS: &str = "timestamp_bits, worker_bits, sequence_bits, epoch_ms, tick_ms, order";

/// What the bits of an id mean: at most 63 together. The defaults are Leaf's; None means the default.
///
/// timestamp_bits: of the tick counter, 1 to 62.
/// worker_bits, sequence_bits: 0 to 31 each.
/// epoch_ms: Unix milliseconds of tick 0.
/// tick_ms: milliseconds a tick, 1 to 3600000.
/// order: what follows the timestamp, "worker-sequence" (Leaf's) or "sequence-worker" (Sonyflake's).
///
/// Raises InvalidArgumentError, naming the field.
#[pyclass(frozen, eq, hash, module = "leafid")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Layout(leafid::Layout);

impl From<leafid::Layout> for Layout {
    fn from(layout: leafid::Layout) -> Layout {
        Layout(layout)
    }
}

#[pymethods]
impl Layout {
    #[new]
    #[pyo3(
        signature = (**fields),
        text_signature = "(*, timestamp_bits=41, worker_bits=10, sequence_bits=12, epoch_ms=1288834974657, \
            tick_ms=1, order='worker-sequence')"
    )]
    fn new(py: Python<'_>, fields: Option<&Bound<'_, PyDict>>) -> PyResult<Layout> {
        let mut parsed = LayoutFields::default();
        for (key, value) in fields.into_iter().flatten() {
            let name: String = key.extract()?;
            let number = match name.as_str() {
                "timestamp_bits" => &mut parsed.timestamp_bits,
                "worker_bits" => &mut parsed.worker_bits,
                "sequence_bits" => &mut parsed.sequence_bits,
                "epoch_ms" => &mut parsed.epoch_ms,
                "tick_ms" => &mut parsed.tick_ms,
                "order" if value.is_none() => continue,
                "order" => {
                    parsed.order = Order::parse(&text(&name, &value)?).map_err(|e| errors::raise(py, &e))?;
                    continue;
                }
                _ => return Err(errors::raise(py, &unknown_option(&name, FIELDS))),
            };
            if !value.is_none() {
                *number = int(&name, &value)?;
            }
        }
        leafid::Layout::new(parsed).map(Layout).map_err(|error| errors::raise(py, &error))
    }

    /// Bits of the tick counter.
    #[getter]
    fn timestamp_bits(&self) -> i64 {
        self.0.fields().timestamp_bits
    }

    /// Bits of the worker id.
    #[getter]
    fn worker_bits(&self) -> i64 {
        self.0.fields().worker_bits
    }

    /// Bits of the sequence.
    #[getter]
    fn sequence_bits(&self) -> i64 {
        self.0.fields().sequence_bits
    }

    /// Unix milliseconds of tick 0.
    #[getter]
    fn epoch_ms(&self) -> i64 {
        self.0.epoch_ms()
    }

    /// Milliseconds a tick.
    #[getter]
    fn tick_ms(&self) -> i64 {
        self.0.tick_ms()
    }

    /// What follows the timestamp: "worker-sequence" or "sequence-worker".
    #[getter]
    fn order(&self) -> &'static str {
        self.0.fields().order.name()
    }

    /// Unix milliseconds at which the timestamp bits are used up.
    #[getter]
    fn expires_at_ms(&self) -> i64 {
        self.0.expires_at_ms()
    }

    fn __repr__(&self) -> String {
        let LayoutFields { epoch_ms, tick_ms, timestamp_bits, worker_bits, sequence_bits, order } =
            self.0.fields();
        format!(
            "leafid.Layout(timestamp_bits={timestamp_bits}, worker_bits={worker_bits}, sequence_bits={sequence_bits}, \
             epoch_ms={epoch_ms}, tick_ms={tick_ms}, order='{}')",
            order.name()
        )
    }

    /// For pickle and copy.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let LayoutFields { epoch_ms, tick_ms, timestamp_bits, worker_bits, sequence_bits, order } =
            self.0.fields();
        let fields = PyDict::new(py);
        fields.set_item("timestamp_bits", timestamp_bits)?;
        fields.set_item("worker_bits", worker_bits)?;
        fields.set_item("sequence_bits", sequence_bits)?;
        fields.set_item("epoch_ms", epoch_ms)?;
        fields.set_item("tick_ms", tick_ms)?;
        fields.set_item("order", order.name())?;
        Ok((PyTuple::empty(py), fields))
    }
}

/// An argument that is a Layout, or text that names one.
pub(crate) fn layout(value: &Bound<'_, PyAny>) -> PyResult<leafid::Layout> {
    let py = value.py();
    if let Ok(layout) = value.cast::<Layout>() {
        return Ok(layout.get().0);
    }
    let parsed = match value.cast::<PyString>() {
        Ok(_) => leafid::Layout::parse(&text("layout", value)?),
        Err(_) => {
            let allowed = format!("{}, or a leafid.Layout", leafid::Layout::ALLOWED);
            Err(leafid::Error::invalid("layout", shown(value), &allowed))
        }
    };
    parsed.map_err(|error| errors::raise(py, &error))
}
