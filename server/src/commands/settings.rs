//! What all servers of a store must agree in: where they differ, one name has two counters, regions give each other's
//! ids, a worker id is leased that a host has for itself, or an id counts as free by a time that its holder does not know.

use crate::options::{Options, ids};
use crate::store::{Settings, Store, check_format};
use leafid_core::{Error, Result};

const LEASE_MS: &str = "lease-ms";

/// Compares the options with those of the first server of the store. Errors: `invalid_argument` if they differ.
pub(super) async fn agree(store: &Store, options: &Options) -> Result<()> {
    let own = own(options);
    if options.change_settings {
        differences(&own, &store.settings().await?).for_each(|change| log::warn!("{}", changed(&change)));
    }
    let stored = store.agree(&own, options.change_settings).await?;
    // A newer server may have started just now.
    check_format(&stored)?;
    differences(&own, &stored).next().map_or(Ok(()), |different| Err(refused(&different)))
}

/// The differences, without a change.
pub(super) async fn compare(store: &Store, options: &Options) -> Result<Vec<Error>> {
    let (own, stored) = (own(options), store.settings().await?);
    let differences = differences(&own, &stored).map(|different| refused(&different));
    Ok(check_format(&stored).err().into_iter().chain(differences).collect())
}

/// What is stored of a setting.
pub(super) fn stored_value<'s>(stored: &'s Settings, name: &str) -> Option<&'s str> {
    stored.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

fn own(options: &Options) -> Settings {
    let own = [
        ("strict-leaf", options.strict_leaf.to_string()),
        ("allow-dotted-tags", options.allow_dotted_tags.to_string()),
        ("stride", options.stride.to_string()),
        ("remainder", options.remainder.to_string()),
        ("workers", ids(&options.workers)),
        (LEASE_MS, options.lease_ms.to_string()),
        ("clock-threshold-ms", options.clock_threshold_ms.to_string()),
    ];
    own.map(|(name, value)| (name.to_owned(), value)).into()
}

/// How long the leases of this store's servers last, whatever the options of a command say.
pub(super) async fn lease_ms(store: &Store, options: &Options) -> Result<i64> {
    let stored = store.settings().await?;
    let found = stored_value(&stored, LEASE_MS).and_then(|value| value.parse().ok());
    Ok(found.unwrap_or(options.lease_ms))
}

/// A setting that differs.
struct Different<'s> {
    name: &'s str,
    own: &'s str,
    stored: &'s str,
}

fn differences<'s>(own: &'s Settings, stored: &'s Settings) -> impl Iterator<Item = Different<'s>> {
    own.iter().filter_map(|(name, own)| {
        let (_, stored) = stored.iter().find(|(known, found)| known == name && found != own)?;
        Some(Different { name, own, stored })
    })
}

fn refused(Different { name, own, stored }: &Different<'_>) -> Error {
    let allowed = format!(
        "{stored}, as all servers of this store have it; to change it, stop them all and start the first one with \
         --change-settings"
    );
    Error::invalid(name, own, &allowed)
}

/// A server that still runs with the old value is not seen from here.
fn changed(Different { name, own, stored }: &Different<'_>) -> String {
    let counters = match (*name, *own) {
        ("strict-leaf", "true") => {
            ". A tag with a dot now has the ids of the row before its dot, and those that its own row gave come again \
             unless you raise that row to the highest max_id of both: leafid-server tag shop --first N"
        }
        ("strict-leaf", _) => {
            ". A tag with a dot now has a counter of its own, and ids of the row before its dot come again unless it \
             begins at or above the max_id of that row: leafid-server tag shop.order --first N"
        }
        _ => "",
    };
    format!(
        "{name} was {stored} and is now {own} for all servers of this store, by --change-settings: see that none runs that \
         was started before{counters}"
    )
}
