//! What tokens are for.

use serde::Deserialize;

/// What a token may do.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scope {
    /// Ids, one or many.
    Ids,
    /// Ranges of ids.
    Ranges,
    /// Leases of worker ids.
    Leases,
    /// Making and changing tags.
    Admin,
    /// Metrics, and the pages that show the tags.
    Metrics,
}

impl Scope {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Scope::Ids => "ids",
            Scope::Ranges => "ranges",
            Scope::Leases => "leases",
            Scope::Admin => "admin",
            Scope::Metrics => "metrics",
        }
    }
}
