//! A Leaf's own settings: the file `leaf.properties`, read as Java's `Properties.load` reads it.

use crate::pem::shown_path;
use leafid_core::{Code, Error, Result};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What a Leaf's settings are here.
pub(super) struct LeafProperties {
    path: PathBuf,
    /// The address, with user and password.
    store: Option<String>,
    has_segment: bool,
    /// Its worker ids come from ZooKeeper.
    has_snowflake: bool,
}

impl LeafProperties {
    /// Errors: no file, or a mode that is neither on nor off.
    pub(super) fn read(path: &Path) -> Result<LeafProperties> {
        let wrong = |what: &dyn std::fmt::Display| {
            Error::new(Code::InvalidArgument, format!("{}: {what}", shown_path(path)))
        };
        let bytes = std::fs::read(path).map_err(|error| wrong(&error))?;
        // ISO 8859-1, whatever the system has.
        let words = pairs(&bytes.iter().map(|byte| char::from(*byte)).collect::<String>());
        let is_on = |name: &str| match words.get(name).map_or("true", |value| value.trim()) {
            value if value.eq_ignore_ascii_case("true") => Ok(true),
            value if value.eq_ignore_ascii_case("false") => Ok(false),
            value => Err(wrong(&format!("{name} is {value:?}; allowed: true or false"))),
        };
        let (has_segment, has_snowflake) = (is_on("leaf.segment.enable")?, is_on("leaf.snowflake.enable")?);
        let word = |name: &str| words.get(name).filter(|value| !value.trim().is_empty());
        let store = word("leaf.jdbc.url").map(|url| {
            let mut url = url.trim().to_owned();
            for (name, of) in [("user", "leaf.jdbc.username"), ("password", "leaf.jdbc.password")] {
                let Some(value) = word(of) else { continue };
                url.push(if url.contains('?') { '&' } else { '?' });
                url += &form_urlencoded::Serializer::new(String::new()).append_pair(name, value).finish();
            }
            url
        });
        Ok(LeafProperties { path: path.to_owned(), store, has_segment, has_snowflake })
    }

    /// The command with these settings as its defaults.
    pub(super) fn as_defaults(&self, command: clap::Command) -> clap::Command {
        let set = |command: clap::Command, id: &'static str, value: String| {
            command.mut_arg(id, |arg| arg.default_value(value))
        };
        let command = match &self.store {
            Some(store) => set(command, "store", store.clone()),
            None => command,
        };
        let command = set(command, "no_segment", (!self.has_segment).to_string());
        set(command, "no_snowflake", (!self.has_snowflake).to_string())
    }

    /// `new_store`: the store that is taken where none is named. `workers`: the range, as it is shown. Errors:
    /// `invalid_argument` for what would give a Leaf's ids again.
    pub(super) fn check(&self, new_store: Option<&str>, first_worker: i64, workers: String) -> Result<()> {
        let path = shown_path(&self.path);
        if let Some(store) = new_store.filter(|_| self.store.is_none()) {
            let allowed = format!(
                "the database of the Leaf, by leaf.jdbc.url of {path} or by --store: a new file counts from 1, and gives \
                 again what the Leaf gave"
            );
            return Err(Error::invalid("store", store, &allowed));
        }
        if self.has_snowflake && first_worker == 0 {
            let allowed = format!(
                "worker ids that no Leaf has, for leaf.snowflake.enable of {path} is true, and ZooKeeper numbers the nodes \
                 of a Leaf from 0 on: --workers 512-1023 if there were never more than 512"
            );
            return Err(Error::invalid("workers", workers, &allowed));
        }
        Ok(())
    }
}

/// What becomes of the settings, for people.
pub(super) fn said(path: &Path, no_segment: bool, no_snowflake: bool) -> String {
    let mode = |is_off: bool| if is_off { "off" } else { "on" };
    format!(
        "leaf-properties: {} is read: segment mode is {}, snowflake mode is {}. ZooKeeper is not asked, so leaf.name, \
         leaf.snowflake.zk.address and leaf.snowflake.port are not used",
        shown_path(path),
        mode(no_segment),
        mode(no_snowflake)
    )
}

/// Of two pairs with one key the last one holds.
fn pairs(text: &str) -> HashMap<String, String> {
    let (mut pairs, text) = (HashMap::new(), text.replace("\r\n", "\n"));
    let mut lines = text.split(['\n', '\r']).map(|line| line.trim_start_matches(BLANKS));
    while let Some(line) = lines.next() {
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        let mut whole = line.to_owned();
        while whole.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1 {
            whole.pop();
            whole += lines.next().unwrap_or_default();
        }
        let (key, value) = split(&whole);
        pairs.insert(unescaped(key), unescaped(value));
    }
    pairs
}

const BLANKS: [char; 3] = [' ', '\t', '\x0c'];

/// The key ends at the first `=`, `:` or blank that no backslash is before.
fn split(line: &str) -> (&str, &str) {
    let mut is_escaped = false;
    let end = line.find(|found: char| {
        let ends = !is_escaped && (BLANKS.contains(&found) || "=:".contains(found));
        is_escaped = found == '\\' && !is_escaped;
        ends
    });
    let (key, rest) = line.split_at(end.unwrap_or(line.len()));
    let rest = rest.trim_start_matches(BLANKS);
    (key, rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start_matches(BLANKS))
}

fn unescaped(text: &str) -> String {
    let (mut found, mut rest) = (String::new(), text.chars());
    while let Some(each) = rest.next() {
        found.push(match (each, if each == '\\' { rest.next() } else { None }) {
            ('\\', Some('t')) => '\t',
            ('\\', Some('n')) => '\n',
            ('\\', Some('r')) => '\r',
            ('\\', Some('f')) => '\x0c',
            ('\\', Some('u')) => {
                let digits: String = rest.by_ref().take(4).collect();
                u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).unwrap_or('\u{fffd}')
            }
            ('\\', Some(other)) => other,
            (each, _) => each,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::pairs;

    #[test]
    fn the_pairs_are_those_that_java_reads() {
        let text = "# leaf.name=no\n  ! no = no\r\nleaf.name = com.example.leaf\nleaf.segment.enable:true \n\
                    leaf.jdbc.url=jdbc\\:mysql\\://db:3306/leaf?a\\=b&c=d\nleaf.jdbc.password p\\\\a\\u00e9=\\ #x\n\
                    long=one,\\\r\n   two,\\\n three\\\n\nempty=\nalone\nkey\\ with\\=odd : x\nleaf.name=last\n";
        let found = pairs(text);
        for (key, value) in [
            ("leaf.name", "last"),
            ("leaf.segment.enable", "true "),
            ("leaf.jdbc.url", "jdbc:mysql://db:3306/leaf?a=b&c=d"),
            ("leaf.jdbc.password", "p\\aé= #x"),
            ("long", "one,two,three"),
            ("empty", ""),
            ("alone", ""),
            ("key with=odd", "x"),
        ] {
            assert_eq!(found.get(key).map(String::as_str), Some(value), "{key}");
        }
        assert_eq!(found.len(), 8);
    }
}
