//! The options that snowflakes and segments share.

#[cfg(feature = "http")]
use crate::http::HttpOptions;
use crate::tasks::with_timeout;
use leafid_core::Result;
#[cfg(feature = "http")]
use leafid_core::options::milliseconds;
use leafid_core::options::{self, Variable};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// How long the disk may take to open a directory or to read certificates.
const OPENS_WITHIN: Duration = Duration::from_secs(2);

/// The unchecked options for requests to servers.
#[derive(Clone, Default)]
pub(crate) struct RequestOptions {
    pub(crate) token: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) request_timeout_ms: Option<i64>,
    pub(crate) connect_timeout_ms: Option<i64>,
}

impl RequestOptions {
    /// Which of them are set. They have no meaning without servers.
    pub(crate) fn set(&self) -> [(&'static str, bool); 5] {
        [
            ("token", self.token.is_some()),
            ("headers", !self.headers.is_empty()),
            ("ca_file", self.ca_file.is_some()),
            ("request_timeout_ms", self.request_timeout_ms.is_some()),
            ("connect_timeout_ms", self.connect_timeout_ms.is_some()),
        ]
    }

    pub(crate) fn set_headers<K: Into<String>, V: Into<String>>(
        &mut self,
        headers: impl IntoIterator<Item = (K, V)>,
    ) {
        self.headers = headers.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    }

    /// `option` is the one that names the servers. Errors: `invalid_argument`.
    #[cfg(feature = "http")]
    pub(crate) fn to(
        &self,
        option: &'static str,
        servers: Vec<String>,
        connections: usize,
    ) -> Result<HttpOptions> {
        let (request_ms, connect_ms) = (self.request_timeout_ms, self.connect_timeout_ms);
        Ok(HttpOptions {
            option,
            servers,
            token: self.token.clone(),
            headers: self.headers.clone(),
            ca_file: self.ca_file.clone(),
            request_timeout: milliseconds("request_timeout_ms", request_ms.unwrap_or(1_000), 1)?,
            connect_timeout: milliseconds("connect_timeout_ms", connect_ms.unwrap_or(300), 1)?,
            connections,
        })
    }
}

/// Without values that may be secrets.
impl fmt::Debug for RequestOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = self.set().into_iter().filter(|(_, set)| *set).map(|(name, _)| name);
        f.debug_set().entries(set).finish()
    }
}

/// The variable that says whether files belong to a group, if the option is not set.
pub(crate) const SHARED_GROUP: &str = "LEAFID_SHARED_GROUP";

/// Passes the environment variable to a check.
pub(crate) fn with_variable<T>(name: &'static str, check: impl FnOnce(Option<Variable<'_>>) -> T) -> T {
    let value = std::env::var_os(name);
    check(value.as_ref().map(|value| Variable { name, text: value.to_str(), shown: value }))
}

/// The option, or else the variable. Errors: `invalid_argument` for another value of the variable.
pub(crate) fn flag(option: Option<bool>, name: &'static str) -> Result<bool> {
    with_variable(name, |variable| options::flag(option, variable))
}

/// Opens on its own thread something that the disk may delay.
pub(crate) fn opened<T: Send + 'static>(
    what: &str,
    open: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    with_timeout::run_on_disk(OPENS_WITHIN, what, "see the disk, then try again", open)
}
