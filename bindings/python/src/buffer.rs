//! The caller's buffer, which is filled without a copy.

use crate::errors;
use leafid::{Error, allowed};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;

/// A writable, C-contiguous buffer of 64-bit integers. As long as it exists, its memory stays in place, because Python
/// refuses to resize or free an exported buffer.
pub(crate) struct IdBuffer(PyUntypedBuffer);

impl IdBuffer {
    /// The object's buffer, if it can hold ids.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<IdBuffer> {
        let buffer = export(object)?;
        let format = buffer.format().to_string_lossy();
        let refusal = if !is_id(&format) || buffer.item_size() != 8 {
            Some(format!("a buffer of format {format:?}, {} bytes an element", buffer.item_size()))
        } else if buffer.readonly() {
            Some(format!("a read-only buffer of format {format:?}"))
        } else if !buffer.is_c_contiguous() {
            Some(format!("a strided buffer of format {format:?}"))
        } else if buffer.item_count() > 0 && !buffer.buf_ptr().cast::<i64>().is_aligned() {
            Some("a buffer that is not aligned to 8 bytes".to_owned())
        } else {
            None
        };
        match refusal {
            Some(what) => Err(refused(object.py(), what)),
            None => Ok(IdBuffer(buffer)),
        }
    }

    /// The number of its elements.
    pub(crate) fn len(&self) -> usize {
        self.0.item_count()
    }

    /// The elements.
    pub(crate) fn ids(&mut self) -> &mut [i64] {
        if self.0.item_count() == 0 {
            // Its address may be anything.
            return &mut [];
        }
        // SAFETY: `of` saw an aligned, contiguous, writable block of 8-byte integers, which Python keeps in
        // place while the export lives; every bit pattern is an i64. Other Python threads can reach the memory too,
        // as with NumPy: writing to a buffer that is being filled gives elements of either writer.
        unsafe { std::slice::from_raw_parts_mut(self.0.buf_ptr().cast(), self.0.item_count()) }
    }
}

impl IdBuffer {
    /// Writes as many ids as the buffer has elements, and returns the buffer. Errors: its size has changed.
    pub(crate) fn written<'py>(object: &Bound<'py, PyAny>, ids: &[i64]) -> PyResult<Bound<'py, PyAny>> {
        let mut buffer = IdBuffer::of(object)?;
        match buffer.len() == ids.len() {
            true => buffer.ids().copy_from_slice(ids),
            false => return Err(refused(object.py(), format!("a buffer that had {} elements", ids.len()))),
        }
        Ok(object.clone())
    }
}

fn export(object: &Bound<'_, PyAny>) -> PyResult<PyUntypedBuffer> {
    let py = object.py();
    // ctypes omits the strides, although they were requested. A memoryview of it adds them.
    let view = |_| PyMemoryView::from(object).and_then(|view| PyUntypedBuffer::get(&view));
    PyUntypedBuffer::get(object).or_else(view).map_err(|error| {
        let none = error.is_instance_of::<PyTypeError>(py)
            || error.is_instance_of::<PyBufferError>(py)
            || error.is_instance_of::<PyValueError>(py);
        match none {
            true => refused(py, format!("a {} without a buffer", type_name(object))),
            false => error,
        }
    })
}

fn refused(py: Python<'_>, what: String) -> PyErr {
    errors::raise(py, &Error::invalid("out", what, allowed("out")))
}

fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().fully_qualified_name().map_or_else(|_| "value".to_owned(), |name| name.to_string())
}

/// Whether a struct format is one integer in this machine's byte order. The caller checks the size, also that of `l`.
fn is_id(format: &str) -> bool {
    let other_order: &[char] = if cfg!(target_endian = "little") { &['>', '!'] } else { &['<'] };
    let kind = format.strip_prefix(['@', '=', '<', '>', '!']).unwrap_or(format);
    !format.starts_with(other_order) && matches!(kind, "q" | "Q" | "l" | "L")
}
