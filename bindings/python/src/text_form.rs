//! `leafid.format_id` and `leafid.parse_id`.

use crate::arguments;
use crate::errors;
use crate::parts::given_id;
use leafid::TextForm;
use pyo3::prelude::*;

/// The text of an id.
///
/// id: an int, or decimal text of digits only.
/// form: "decimal"; "base32", Crockford's in upper case, 13 characters; or "base62", 11 characters of 0-9, A-Z and a-z.
///     The order of texts in base32 or base62, as bytes, is the order of the ids.
///
/// Raises InvalidArgumentError.
#[pyfunction]
pub(crate) fn format_id(id: &Bound<'_, PyAny>, form: &Bound<'_, PyAny>) -> PyResult<String> {
    let form = given_form(form)?;
    form.format_id(given_id(id)?).map_err(|error| errors::raise(id.py(), &error))
}

/// The id of a text: the reverse of format_id.
///
/// text: only what format_id makes: no other width, case or character, and no leading zero of decimal text.
/// form: "decimal", "base32" or "base62".
///
/// Raises InvalidArgumentError.
#[pyfunction]
pub(crate) fn parse_id(text: &Bound<'_, PyAny>, form: &Bound<'_, PyAny>) -> PyResult<i64> {
    let id = given_form(form)?.parse_id(&arguments::text("text", text)?);
    id.map_err(|error| errors::raise(text.py(), &error))
}

fn given_form(form: &Bound<'_, PyAny>) -> PyResult<TextForm> {
    TextForm::parse(&arguments::text("form", form)?).map_err(|error| errors::raise(form.py(), &error))
}
