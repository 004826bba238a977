//! The checks of the options for requests to servers.

use crate::options::allowed::allowed;
use crate::quoted::Quoted;
use crate::{Error, Result};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

const MOST_SERVERS: usize = 64;
const LONGEST_URL: usize = 2_000;
const MOST_CONNECTIONS: usize = 64;
/// The size of all headers of the user together.
const MOST_HEADER_BYTES: usize = 8 * 1024;
/// The headers that HTTP itself sets.
const RESERVED: [&str; 9] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The header of a token.
const AUTHORIZATION: &str = "authorization";

/// The number of servers, that their URLs have no password, and their length. `option` names the servers. Errors: `invalid_argument`.
pub(crate) fn check_servers(option: &str, urls: &[String]) -> Result<()> {
    if urls.is_empty() || urls.len() > MOST_SERVERS {
        let allowed = format!("1 to {MOST_SERVERS} URLs");
        return Err(Error::invalid(option, format!("{} URLs", urls.len()), &allowed));
    }
    // Before all else: a password with a comma has cut a URL in two, of which the first looks like another mistake.
    if urls.iter().any(|url| url.contains('@')) {
        let allowed = "URLs without a user; a user or password belongs in `token` or `headers`";
        return Err(Error::invalid(option, "a URL with a user or password before its host", allowed));
    }
    if let Some(long) = urls.iter().find(|url| url.len() > LONGEST_URL) {
        let allowed = format!("URLs of at most {LONGEST_URL} bytes");
        return Err(Error::invalid(option, format!("a URL of {} bytes", long.len()), &allowed));
    }
    Ok(())
}

/// The number of kept connections to each server. Errors: `invalid_argument`.
pub(crate) fn check_connections(connections: usize) -> Result<()> {
    match connections {
        1..=MOST_CONNECTIONS => Ok(()),
        _ => Err(Error::invalid("connections", connections, allowed("connections"))),
    }
}

/// The headers of the user, and the token as `Authorization: Bearer …`, with the option or the variable that has it.
///
/// Errors: `invalid_argument`.
pub(crate) fn check_headers(token: Option<(&str, &str)>, others: &[(String, String)]) -> Result<()> {
    // RFC 9110, 5.5, and bytes that are no ASCII.
    let is_value = |value: &str| value.bytes().all(|byte| byte == b'\t' || byte >= b' ' && byte != 0x7f);
    // RFC 9110, 5.6.2.
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let mut bytes = 0;
    if let Some((said, token)) = token {
        // The text is a secret, so no message contains it.
        let wrong = if token.is_empty() { "empty" } else { "a text with a control character" };
        if token.is_empty() || !is_value(token) {
            return Err(Error::invalid(said, wrong, allowed("token")));
        }
        bytes = AUTHORIZATION.len() + "Bearer ".len() + token.len();
    }
    let mut known: Vec<String> = token.iter().map(|_| AUTHORIZATION.into()).collect();
    for (name, value) in others {
        if name.is_empty() || !name.bytes().all(is_name) {
            // What is no name may be the value, and a secret.
            let shown = format!("a name of {} bytes with another character", name.len());
            return Err(Error::invalid("headers", shown, "names of letters, digits and -"));
        }
        let lower = name.to_ascii_lowercase();
        let wrong = |allowed: &str| Err(Error::invalid("headers", Quoted(name), allowed));
        if RESERVED.contains(&lower.as_str()) {
            return wrong(&format!("other names than {}", RESERVED.join(", ")));
        }
        if known.contains(&lower) {
            return wrong("each name once, and no Authorization besides `token`");
        }
        if !is_value(value) {
            return wrong("a value without control characters for it");
        }
        bytes += name.len() + value.len();
        known.push(lower);
    }
    if bytes > MOST_HEADER_BYTES {
        let allowed = format!("at most {MOST_HEADER_BYTES}, with the token");
        return Err(Error::invalid("headers", format!("{bytes} bytes"), &allowed));
    }
    Ok(())
}
