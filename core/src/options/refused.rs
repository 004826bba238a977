//! Errors for values that the host's language has and Rust does not.

use crate::Error;
use crate::options::allowed::allowed;
use crate::secrets::shown_url;
use alloc::borrow::ToOwned;
use alloc::string::String;

/// What a message shows instead of a secret.
pub(crate) const SHOWN_INSTEAD: &str = "a value that is not shown";

/// Whether no message shows the values of the option or argument.
pub(crate) fn is_secret(name: &str) -> bool {
    #[cfg(any(feature = "format", feature = "wire"))]
    if let Some(row) = super::table::find(name) {
        return row.is_secret;
    }
    // The arguments of public ids.
    ["key", "others", "source"].contains(&name)
}

/// `invalid_argument` for the option or argument `name`; `value` as the language writes it, `instead` of the text of
/// [`allowed`]. A value that may be a secret is not shown.
///
/// A binding uses it for values that its language has and Rust does not: a float, NaN, 2^64, a text for a number.
pub fn refused(name: &str, value: &str, instead: Option<&str>) -> Error {
    Error::invalid(name, shown_value(name, value), instead.unwrap_or_else(|| allowed(name)))
}

/// As messages show it.
pub(crate) fn shown_value(name: &str, value: &str) -> String {
    match is_secret(name) {
        true => SHOWN_INSTEAD.to_owned(),
        false => shown_url(value),
    }
}

#[cfg(test)]
mod tests {
    use super::refused;

    #[test]
    fn values_of_secret_options_are_not_shown() {
        for (name, value, shown) in [
            ("token", "s3cret", "token is a value that is not shown"),
            ("headers", "{'X-Key': 's3cret'}", "headers is a value that is not shown"),
            ("key", "b's3cret'", "key is a value that is not shown"),
            ("source", "s3cret\u{fffd}", "source is a value that is not shown"),
            ("worker", "'https://u:s3cret@ids'", "worker is 'https://…@ids'"),
            ("timeout_ms", "'https://u:s3/cret@ids'", "timeout_ms is 'https://…@ids'"),
            ("step", "1.5", "step is 1.5"),
        ] {
            let error = refused(name, value, None);
            assert!(error.message().starts_with(shown) && !error.message().contains("cret"), "{error}");
        }
    }
}
