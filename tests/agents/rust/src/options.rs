//! `key=value` arguments, and the generator that they describe.

use leafid::{OPTIONS, OptionKind, OptionOf, OptionValue, Snowflake, SnowflakeBuilder};
use std::collections::HashMap;

/// The arguments of a command.
pub struct Options(HashMap<String, String>);

impl Options {
    /// Reads them; a word without `=` is a key with an empty value.
    pub fn parse(args: impl IntoIterator<Item = String>) -> Options {
        let pair = |arg: String| match arg.split_once('=') {
            Some((key, value)) => (key.to_owned(), value.to_owned()),
            None => (arg, String::new()),
        };
        Options(args.into_iter().map(pair).collect())
    }

    /// A text, if given.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// A number, or the default.
    pub fn number(&self, key: &str, default: u64) -> u64 {
        self.text(key).and_then(|text| text.parse().ok()).unwrap_or(default)
    }

    /// The numbers and texts that are options of these; `dir` is `state_dir`.
    pub fn of(&self, of: OptionOf) -> impl Iterator<Item = (&'static str, OptionValue)> {
        OPTIONS.iter().filter(move |row| row.of.includes(of)).filter_map(|row| {
            let text = self.text(if row.name == "state_dir" { "dir" } else { row.name })?;
            let value = match row.kind {
                OptionKind::Int | OptionKind::Id => OptionValue::Int(text.parse().ok()?),
                OptionKind::Text
                | OptionKind::Word(_)
                | OptionKind::Path
                | OptionKind::Layout
                | OptionKind::Worker => OptionValue::Text(text.into()),
                _ => return None,
            };
            Some((row.name, value))
        })
    }

    /// The builder of the generator described.
    pub fn builder(&self) -> SnowflakeBuilder {
        let mut builder = Snowflake::builder().worker("0");
        for (name, value) in self.of(OptionOf::Snowflake) {
            builder.set_value(name, value).expect("a value of its kind");
        }
        builder
    }

    /// Opens it.
    pub fn open(&self) -> leafid::Result<Snowflake> {
        self.builder().open()
    }
}
