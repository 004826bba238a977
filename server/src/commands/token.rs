//! Makes a bearer token.

use crate::access::{check_pattern, new_token};
use crate::scope::Scope;
use leafid_core::Result;

/// Prints the lines of the file to standard output. The token itself goes to standard error, so that it does not get
/// into the file.
pub(super) fn token(name: &str, scopes: &[Scope], tags: &[String]) -> Result<()> {
    for tag in tags {
        check_pattern(tag)?;
    }
    let (secret, hash) = new_token()?;
    let scopes: Vec<&str> = scopes.iter().map(|scope| scope.name()).collect();
    // JSON's lists of texts are TOML's too.
    let list = |texts: &[&str]| serde_json::Value::from(texts.to_vec()).to_string();
    let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
    println!("[[token]]\nname = \"{name}\"\nsha256 = \"{hash}\"");
    println!("scopes = {}\ntags = {}", list(&scopes), list(&tags));
    eprintln!("the token, which is shown only now: {secret}");
    Ok(())
}
