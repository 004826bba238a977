//! Where the key of public ids is read from.

use leafid_core::{Error, PublicIdKey, Result};
use std::env;
use std::fs::File;
use std::io::{self, Read};
use zeroize::Zeroizing;

const ALLOWED: &str =
    "\"env:NAME\", an environment variable, or \"file:PATH\", either with 32, 48 or 64 hexadecimal digits";

/// More than the longest key and an end of line.
const MOST_BYTES: usize = 256;

/// A name with as many hexadecimal digits may be a key.
const FEWEST_DIGITS: usize = 16;

/// Reads the key of public ids: hexadecimal digits, from an environment variable (`env:NAME`) or a file (`file:PATH`).
/// `openssl rand -hex 16` makes one.
///
/// Errors: `invalid_argument`. No error shows what was read, nor a source that is neither: it may be a key.
pub fn load_public_id_key(source: &str) -> Result<PublicIdKey> {
    let refused = |why: &str| Error::invalid("key", format!("{}, {why}", shown(source)), ALLOWED);
    let key = if let Some(name) = source.strip_prefix("env:") {
        let value =
            env::var_os(name).filter(|_| !name.is_empty()).ok_or_else(|| refused("which is not set"))?;
        let value = value.into_string().map(Zeroizing::new);
        PublicIdKey::from_hex(&value.map_err(|_| refused("which holds another text"))?)
    } else if let Some(path) = source.strip_prefix("file:") {
        let read = read(path).map_err(|error| refused(&format!("which cannot be read: {error}")))?;
        PublicIdKey::from_hex(str::from_utf8(read.trim_ascii_end()).unwrap_or_default())
    } else {
        return Err(Error::invalid("key", hidden(source), ALLOWED));
    };
    key.map_err(|_| refused("which holds another text"))
}

/// A source for messages: a key that was given in place of a name or a path is not shown.
fn shown(source: &str) -> String {
    match source.split_once(':') {
        Some((kind, name)) if may_be_key(name) => format!("{kind}:{}", hidden(name)),
        _ => source.to_owned(),
    }
}

/// Also one with a digit too few, or with other signs and letters between its digits. A path has separators.
fn may_be_key(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_hexdigit).count();
    let letters = text.bytes().filter(u8::is_ascii_alphanumeric).count() - digits;
    !text.contains(['/', '\\']) && digits >= FEWEST_DIGITS && digits >= 4 * letters
}

fn hidden(text: &str) -> String {
    format!("a text of {} characters", text.chars().count())
}

/// The beginning of a file. It is read into one place, which is overwritten at the end.
fn read(path: &str) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(MOST_BYTES));
    File::open(path)?.take(MOST_BYTES as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}
