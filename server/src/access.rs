//! Bearer tokens: who may use what.
//!
//! A token is 256 random bits, so it cannot be guessed from its SHA-256, and a slow hash would add nothing. The files
//! hold this hash alone.

use crate::clock::random_hex;
use crate::options::Options;
use crate::pem::shown_path;
use crate::scope::Scope;
use crate::toml_file;
use leafid_core::options::check_row_tag;
use leafid_core::{Error, Result};
use parking_lot::RwLock;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// A token, as a file describes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Token {
    /// For logs and answers. It is no secret.
    name: String,
    sha256: String,
    scopes: Vec<Scope>,
    /// Each is a tag, or the beginning of tags and a `*`.
    #[serde(default = "all_tags")]
    tags: Vec<String>,
    #[serde(skip)]
    digest: [u8; 32],
}

/// The tokens of a file that has nothing else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokensFile {
    #[serde(default)]
    token: Vec<Token>,
}

/// The tokens of a file that has options as well.
#[derive(Deserialize)]
struct ConfigFile {
    #[serde(default)]
    token: Vec<Token>,
}

/// All tokens. Without any, everybody may do everything but administration.
pub(crate) struct Tokens {
    config: Option<PathBuf>,
    file: Option<PathBuf>,
    known: RwLock<Arc<Vec<Arc<Token>>>>,
}

/// Why a request is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    /// The caller is unknown.
    Unknown(String),
    /// This token may not do it.
    Forbidden(String),
}

/// What the sender of a request may do.
#[derive(Clone)]
pub(crate) struct Grant(Option<Arc<Token>>);

impl Tokens {
    /// Reads the files of the options. Errors: `invalid_argument`.
    pub(crate) fn load(options: &Options) -> Result<Tokens> {
        let tokens =
            Tokens { config: options.config.clone(), file: options.tokens.clone(), known: RwLock::default() };
        tokens.reload()?;
        Ok(tokens)
    }

    /// Reads the files again. After an error the tokens are those of before.
    pub(crate) fn reload(&self) -> Result<()> {
        let mut found = Vec::new();
        if let Some(path) = &self.config {
            found.extend(read::<ConfigFile>(path, "config")?.token);
        }
        if let Some(path) = &self.file {
            let tokens = read::<TokensFile>(path, "tokens")?.token;
            // An empty file would open the server to everybody.
            if tokens.is_empty() {
                return Err(Error::invalid("tokens", shown_path(path), "a file with a [[token]]"));
            }
            found.extend(tokens);
        }
        let found =
            found.into_iter().map(|token| token.checked().map(Arc::new)).collect::<Result<Vec<_>>>()?;
        let was_closed = !self.known.read().is_empty();
        if was_closed && found.is_empty() {
            return Err(Error::invalid("tokens", "empty", "a token, as long as this server runs"));
        }
        *self.known.write() = Arc::new(found);
        Ok(())
    }

    /// Whether no token is configured.
    pub(crate) fn is_empty(&self) -> bool {
        self.known.read().is_empty()
    }

    /// What the sender of this secret may do. Errors: [`Denied::Unknown`].
    pub(crate) fn grant(&self, secret: Option<&str>) -> std::result::Result<Grant, Denied> {
        let known = match &*self.known.read() {
            known if known.is_empty() => return Ok(Grant(None)),
            known => known.clone(),
        };
        let Some(secret) = secret else {
            return Err(Denied::Unknown("no token: send the header Authorization: Bearer TOKEN".to_owned()));
        };
        let digest = digest(secret);
        // All are compared: the time says nothing about which one it is.
        let found = known.iter().fold(None, |found, token| {
            if bool::from(token.digest.ct_eq(&digest)) { Some(token) } else { found }
        });
        match found {
            Some(token) => Ok(Grant(Some(token.clone()))),
            None => Err(Denied::Unknown("unknown token: this server has no such token".to_owned())),
        }
    }
}

impl Grant {
    /// Whether a token was sent, and found.
    pub(crate) fn has_token(&self) -> bool {
        self.0.is_some()
    }

    /// The hash of the token, if there is one.
    pub(crate) fn digest(&self) -> Option<[u8; 32]> {
        self.0.as_ref().map(|token| token.digest)
    }

    /// Errors: [`Denied::Forbidden`].
    pub(crate) fn check_scope(&self, scope: Scope) -> std::result::Result<(), Denied> {
        match &self.0 {
            Some(token) if !token.scopes.contains(&scope) => {
                let scopes: Vec<&str> = token.scopes.iter().map(|scope| scope.name()).collect();
                Err(Denied::Forbidden(format!(
                    "the token {:?} lacks the scope {}; it has {}",
                    token.name,
                    scope.name(),
                    scopes.join(", ")
                )))
            }
            _ => Ok(()),
        }
    }

    /// The same for a tag, or for the name of an id space.
    pub(crate) fn check_tag(&self, tag: &str) -> std::result::Result<(), Denied> {
        match &self.0 {
            Some(token) if !token.tags.iter().any(|pattern| matches(pattern, tag)) => Err(Denied::Forbidden(
                format!("the token {:?} is not for {tag:?}; it is for {}", token.name, token.tags.join(", ")),
            )),
            _ => Ok(()),
        }
    }
}

impl Token {
    fn checked(mut self) -> Result<Token> {
        self.digest = from_hex(&self.sha256).ok_or_else(|| {
            Error::invalid(
                "sha256",
                // Perhaps the token itself, in place of its hash.
                format!("a text of {} characters in the token {:?}", self.sha256.chars().count(), self.name),
                "64 digits of hex, as `leafid-server token` prints them",
            )
        })?;
        for (list, is_empty) in [("scopes", self.scopes.is_empty()), ("tags", self.tags.is_empty())] {
            if is_empty {
                return Err(Error::invalid(list, format!("[] in the token {:?}", self.name), "one or more"));
            }
        }
        for pattern in &self.tags {
            check_pattern(pattern)?;
        }
        Ok(self)
    }
}

/// A new token, and its hash. Errors: `internal`.
pub(crate) fn new_token() -> Result<(String, String)> {
    // The first word tells scanners of source code what it is.
    let secret = format!("leafid_{}{}", random_hex()?, random_hex()?);
    let hash = hex::encode(digest(&secret));
    Ok((secret, hash))
}

/// Errors: `invalid_argument`.
pub(crate) fn check_pattern(pattern: &str) -> Result<()> {
    match pattern.strip_suffix('*').unwrap_or(pattern) {
        "" if pattern == "*" => Ok(()),
        start => check_row_tag(start),
    }
}

fn matches(pattern: &str, tag: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => tag.starts_with(start),
        None => pattern == tag,
    }
}

fn all_tags() -> Vec<String> {
    vec!["*".to_owned()]
}

fn read<T: DeserializeOwned>(path: &Path, option: &str) -> Result<T> {
    toml_file::read(path).map_err(|what| Error::invalid(option, what, "a TOML file"))
}

fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(text, &mut bytes).ok().map(|()| bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_tag_or_the_beginning_of_tags() {
        for (pattern, tag, is_match) in [
            ("order", "order", true),
            ("order", "order2", false),
            ("order*", "order2", true),
            ("order*", "order", true),
            ("order*", "my-order", false),
            ("*", "any", true),
            ("or*er", "order", false),
        ] {
            assert_eq!(matches(pattern, tag), is_match, "{pattern} {tag}");
        }
        assert!(check_pattern("*").is_ok() && check_pattern("a*").is_ok() && check_pattern("").is_err());
    }

    #[test]
    fn a_hash_is_the_sha_256_of_the_whole_token() {
        // FIPS 180-2.
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((hex::encode(digest("abc")).as_str(), from_hex(hash)), (hash, Some(digest("abc"))));
        for wrong in ["", "ba78", &format!("{hash}00"), &hash.replace('b', "g"), &"é".repeat(32)] {
            assert_eq!(from_hex(wrong), None, "{wrong}");
        }
    }
}
