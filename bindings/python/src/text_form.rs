//! `leafid.format_id`, `leafid.parse_id`, `leafid.id_to_uuid` and `leafid.uuid_to_id`.

use crate::arguments;
use crate::errors;
use crate::parts::given_id;
use leafid::{Error, TextForm};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyType};

/// The text of an id.
///
/// id: an int, or decimal text of digits only.
/// form: "decimal"; "base32", Crockford's in upper case, 13 characters; "base62", 11 characters of 0-9, A-Z and a-z; or
///     "uuid", the text of id_to_uuid in lower case.
///     The order of all texts but decimal ones, as bytes, is the order of the ids.
///
/// Raises InvalidArgumentError.
#[pyfunction]
pub(crate) fn format_id(id: &Bound<'_, PyAny>, form: &Bound<'_, PyAny>) -> PyResult<String> {
    let form = given_form(form)?;
    form.format_id(given_id(id)?).map_err(|error| errors::raise(id.py(), &error))
}

/// A list of ids as text of decimal digits.
pub(crate) fn as_text<'py>(ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let texts = ids.try_iter()?.map(|id| id?.str()).collect::<PyResult<Vec<_>>>()?;
    PyList::new(ids.py(), texts)
}

/// The id of a text: the reverse of format_id.
///
/// text: only what format_id makes: no other width, case or character, and no leading zero of decimal text.
/// form: "decimal", "base32", "base62" or "uuid".
///
/// Raises InvalidArgumentError.
#[pyfunction]
pub(crate) fn parse_id(text: &Bound<'_, PyAny>, form: &Bound<'_, PyAny>) -> PyResult<i64> {
    let id = given_form(form)?.parse_id(&arguments::text("text", text)?);
    id.map_err(|error| errors::raise(text.py(), &error))
}

/// The UUID of an id, of version 8 (RFC 9562).
///
/// Its first 64 bits without the version and the variant are the id, and 58 zeros follow. UUIDs have the order of their
/// ids.
///
/// id: an int, or decimal text of digits only.
///
/// Raises InvalidArgumentError.
#[pyfunction]
pub(crate) fn id_to_uuid<'py>(id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = id.py();
    let uuid = leafid::id_to_uuid(given_id(id)?).map_err(|error| errors::raise(py, &error))?;
    let fields = PyDict::new(py);
    fields.set_item("int", uuid)?;
    uuid_type(py)?.call((), Some(&fields))
}

/// The id of a UUID: the reverse of id_to_uuid.
///
/// uuid: a uuid.UUID, only one that id_to_uuid makes. For text see parse_id.
///
/// Raises InvalidArgumentError.
#[pyfunction]
pub(crate) fn uuid_to_id(uuid: &Bound<'_, PyAny>) -> PyResult<i64> {
    let py = uuid.py();
    if !uuid.is_instance(uuid_type(py)?)? {
        let error = Error::invalid("uuid", arguments::shown(uuid), "a uuid.UUID");
        return Err(errors::raise(py, &error));
    }
    leafid::uuid_to_id(uuid.getattr("int")?.extract()?).map_err(|error| errors::raise(py, &error))
}

/// Imported at its first use: a program without UUIDs does not need it.
fn uuid_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static UUID: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    UUID.import(py, "uuid", "UUID")
}

pub(crate) fn given_form(form: &Bound<'_, PyAny>) -> PyResult<TextForm> {
    TextForm::parse(&arguments::text("form", form)?).map_err(|error| errors::raise(form.py(), &error))
}
