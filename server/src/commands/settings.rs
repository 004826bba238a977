//! What all servers of a store must agree in: where they differ, one name has two counters, regions give each other's
//! ids, or a worker id is leased that a host has for itself.

use crate::options::{Options, ids};
use crate::store::{Settings, Store};
use leafid_core::{Error, Result};

/// Compares the options with those of the first server of the store. Errors: `invalid_argument` if they differ.
pub(super) async fn agree(store: &Store, options: &Options) -> Result<()> {
    let own = own(options);
    let stored = store.agree(&own, options.change_settings).await?;
    differences(&own, &stored).into_iter().next().map_or(Ok(()), Err)
}

/// The differences, without a change.
pub(super) async fn compare(store: &Store, options: &Options) -> Result<Vec<Error>> {
    Ok(differences(&own(options), &store.settings().await?))
}

fn own(options: &Options) -> Settings {
    let own = [
        ("strict-leaf", options.strict_leaf.to_string()),
        ("allow-dotted-tags", options.allow_dotted_tags.to_string()),
        ("stride", options.stride.to_string()),
        ("remainder", options.remainder.to_string()),
        ("workers", ids(&options.workers)),
    ];
    own.map(|(name, value)| (name.to_owned(), value)).into()
}

fn differences(own: &Settings, stored: &Settings) -> Vec<Error> {
    let other = |name: &str, value: &str| {
        stored.iter().find(|(known, found)| known == name && found != value).map(|(_, found)| found)
    };
    own.iter()
        .filter_map(|(name, value)| Some(Error::invalid(name, value, &allowed(other(name, value)?))))
        .collect()
}

fn allowed(stored: &str) -> String {
    format!(
        "{stored}, as all servers of this store have it; to change it, stop them all and start the first one with \
         --change-settings"
    )
}
