//! What the clients of all protocols have in common.

use super::origin::Servers;
use crate::http::ServerPool;
use leafid_core::{Error, Result};

/// The client of one protocol.
pub(crate) trait Dialect: Send + Sync {
    /// The servers of this client.
    fn http(&self) -> &ServerPool;

    /// Errors: `invalid_argument` for a tag that these servers would confuse with another.
    fn check_tag(&self, _tag: &str) -> Result<()> {
        Ok(())
    }
}

impl<D: Dialect> Servers for D {
    fn rest_ms(&self, urgent: bool) -> Option<i64> {
        self.http().rest_ms(urgent)
    }

    fn denies(&self, tag: &str) -> bool {
        self.http().denies(tag)
    }

    fn last_errors(&self) -> Vec<(String, Option<Error>)> {
        self.http().last_errors()
    }

    fn close_idle(&self) {
        self.http().rest();
    }

    fn close(&self) {
        self.http().close();
    }

    fn check_tag(&self, tag: &str) -> Result<()> {
        Dialect::check_tag(self, tag)
    }
}
