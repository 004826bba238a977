//! Files of TOML. Their errors show no value: it may be a token, or the password of the store.

use crate::pem::shown_path;
use serde::de::DeserializeOwned;
use std::path::Path;

/// What a file says. Errors: what is wrong with it, and where.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let wrong = |what: String| format!("{}: {what}", shown_path(path));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    // The error's own text repeats the line.
    toml::from_str(&text).map_err(|error: toml::de::Error| {
        let line = error.span().map_or(0, |span| text[..span.start].matches('\n').count() + 1);
        wrong(format!("line {line}: {}", without_value(error.message(), text.parse::<toml::Table>().is_ok())))
    })
}

/// `is_toml`: a value is of a wrong type, and the message begins with it.
fn without_value(message: &str, is_toml: bool) -> String {
    match message.rsplit_once(", expected ") {
        Some((_, expected)) if is_toml => format!("expected {expected}"),
        None if is_toml && !message.starts_with("missing field") => "a value that is not allowed".to_owned(),
        _ => message.to_owned(),
    }
}
