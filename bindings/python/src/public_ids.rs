//! `leafid.PublicIds`.

use crate::arguments::{self, int, small};
use crate::errors;
use crate::parts::given_id;
use crate::text_form::given_form;
use leafid::{Error, PublicIdKey, load_public_id_key};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

/// Encrypts ids to numbers of the same 63 bits and back, one to one: FF1 of NIST SP 800-38G.
///
/// docs/PUBLIC-IDS.md says what it hides and what it does not.
///
/// key: 16, 24 or 32 bytes; or where to read hexadecimal digits of them, as text: "env:NAME", an environment variable, or
///     "file:PATH". No error and no repr shows a key.
/// version: of the key, 0 to 31. A text begins with it.
/// others: keys by their versions, in a dict. They decrypt only.
///
/// Raises InvalidArgumentError.
#[pyclass(frozen, module = "leafid")]
pub(crate) struct PublicIds(leafid::PublicIds);

#[pymethods]
impl PublicIds {
    #[new]
    #[pyo3(signature = (key, version, others=None))]
    fn new(
        key: &Bound<'_, PyAny>,
        version: &Bound<'_, PyAny>,
        others: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PublicIds> {
        let py = key.py();
        let ids = leafid::PublicIds::new(given_key(key)?, small("version", version)?);
        let mut ids = ids.map_err(|error| errors::raise(py, &error))?;
        for (version, key) in others.map(given_others).transpose()?.into_iter().flatten() {
            let added = ids.add_key(given_key(&key)?, small("version", &version)?);
            added.map_err(|error| errors::raise(py, &error))?;
        }
        Ok(PublicIds(ids))
    }

    /// The version of the key that encrypts.
    #[getter]
    fn version(&self) -> u32 {
        self.0.version()
    }

    /// The number that stands for an id, 0 to 2^63-1.
    ///
    /// id: an int, or decimal text of digits only, from 1.
    ///
    /// Raises InvalidArgumentError.
    fn encrypt(&self, id: &Bound<'_, PyAny>) -> PyResult<i64> {
        self.0.encrypt(given_id(id)?).map_err(|error| errors::raise(id.py(), &error))
    }

    /// The id of a number that encrypt made with the key of this version. A number of another key gives another id.
    ///
    /// Raises InvalidArgumentError.
    fn decrypt(&self, public_id: &Bound<'_, PyAny>, version: &Bound<'_, PyAny>) -> PyResult<i64> {
        let id = self.0.decrypt(int("public_id", public_id)?, small("version", version)?);
        id.map_err(|error| errors::raise(public_id.py(), &error))
    }

    /// The text that stands for an id: a digit for the version, and the number of encrypt in base32 or base62.
    ///
    /// form: "base32", 14 characters together, or "base62", 12.
    ///
    /// Raises InvalidArgumentError.
    fn format_id(&self, id: &Bound<'_, PyAny>, form: &Bound<'_, PyAny>) -> PyResult<String> {
        let text = self.0.format_id(given_id(id)?, given_form(form)?);
        text.map_err(|error| errors::raise(id.py(), &error))
    }

    /// The id of a text of format_id, with the key of its version.
    ///
    /// Raises InvalidArgumentError.
    fn parse_id(&self, text: &Bound<'_, PyAny>, form: &Bound<'_, PyAny>) -> PyResult<i64> {
        let id = self.0.parse_id(&arguments::text("text", text)?, given_form(form)?);
        id.map_err(|error| errors::raise(text.py(), &error))
    }

    fn __repr__(&self) -> String {
        format!("leafid.PublicIds(version={})", self.0.version())
    }
}

/// Never with the value in an error: it may be a key.
fn given_key(key: &Bound<'_, PyAny>) -> PyResult<PublicIdKey> {
    let py = key.py();
    let read = if let Ok(bytes) = key.cast::<PyBytes>() {
        PublicIdKey::new(bytes.as_bytes())
    } else if let Ok(source) = key.cast::<PyString>() {
        let bad =
            |_| Error::invalid("key", "a text that is not UTF-8", "bytes, \"env:NAME\" or \"file:PATH\"");
        source.to_str().map_err(bad).and_then(load_public_id_key)
    } else {
        let shown = format!("of type {}", key.get_type().name()?);
        Err(Error::invalid("key", shown, "bytes, \"env:NAME\" or \"file:PATH\""))
    };
    read.map_err(|error| errors::raise(py, &error))
}

/// The pairs of a mapping of versions and keys.
fn given_others<'py>(others: &Bound<'py, PyAny>) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    match others.cast::<PyDict>() {
        Ok(others) => Ok(others.iter().collect()),
        Err(_) => {
            let shown = format!("of type {}", others.get_type().name()?);
            let error = Error::invalid("others", shown, "a dict of keys by their versions");
            Err(errors::raise(others.py(), &error))
        }
    }
}
