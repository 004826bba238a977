//! `key=value` arguments, and the generator that they describe.

use leafid::{OnClockBackwards, OnExhausted, Snowflake, SnowflakeBuilder};
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

    /// The builder of the generator described.
    pub fn builder(&self) -> SnowflakeBuilder {
        let mut builder = Snowflake::builder().worker(self.text("worker").unwrap_or("0"));
        if let Some(name) = self.text("name") {
            builder = builder.name(name);
        }
        if let Some(dir) = self.text("dir") {
            builder = builder.state_dir(dir);
        }
        if let Some(ms) = self.text("epoch_ms").and_then(|text| text.parse().ok()) {
            builder = builder.epoch_ms(ms);
        }
        if let Some(ms) = self.text("timeout_ms").and_then(|text| text.parse().ok()) {
            builder = builder.timeout_ms(ms);
        }
        if let Some(ms) = self.text("request_timeout_ms").and_then(|text| text.parse().ok()) {
            builder = builder.request_timeout_ms(ms);
        }
        if let Some(ms) = self.text("connect_timeout_ms").and_then(|text| text.parse().ok()) {
            builder = builder.connect_timeout_ms(ms);
        }
        if let Some(token) = self.text("token") {
            builder = builder.token(token);
        }
        if let Some(path) = self.text("ca_file") {
            builder = builder.ca_file(path);
        }
        if let Some(ms) = self.text("max_backwards_ms").and_then(|text| text.parse().ok()) {
            builder = builder.max_backwards_ms(ms);
        }
        if let Some(below) = self.text("random_start").and_then(|text| text.parse().ok()) {
            builder = builder.random_start(below);
        }
        if let Some(Ok(layout)) = self.text("layout").map(str::parse) {
            builder = builder.layout(layout);
        }
        if let Some(Ok(rule)) = self.text("on_clock_backwards").map(OnClockBackwards::parse) {
            builder = builder.on_clock_backwards(rule);
        }
        if let Some(Ok(rule)) = self.text("on_exhausted").map(OnExhausted::parse) {
            builder = builder.on_exhausted(rule);
        }
        builder
    }

    /// Opens it.
    pub fn open(&self) -> leafid::Result<Snowflake> {
        self.builder().open()
    }
}
