//! Tags with a dot. A stock Leaf, and a server with `--strict-leaf`, cuts `shop.order` at its last dot and gives ids of
//! the row `shop`. Where `shop.order` has a row of its own, two servers of one table would give it from two counters.

use crate::options::Options;
use crate::store::{Store, TagRow};
use leafid_core::{Error, Result};
use std::collections::HashMap;

/// What a server does with such tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dots {
    /// The tag is the part before the dot, in all APIs.
    Cut,
    /// The tag is whole, and refused while the part before its dot has a row.
    Refused,
    /// The tag is whole.
    Whole,
}

impl Dots {
    pub(crate) fn of(options: &Options) -> Dots {
        match (options.strict_leaf, options.allow_dotted_tags) {
            (true, _) => Dots::Cut,
            (false, true) => Dots::Whole,
            (false, false) => Dots::Refused,
        }
    }

    /// The tag whose counter a name has.
    pub(crate) fn tag(self, name: &str) -> &str {
        before_dot(name).filter(|_| self == Dots::Cut).unwrap_or(name)
    }

    /// Whether the tag has to be looked at before ids of it are taken.
    pub(crate) fn may_refuse(self, tag: &str) -> bool {
        self == Dots::Refused && tag.contains('.')
    }

    /// Errors: `invalid_argument` for a tag with two counters.
    pub(crate) async fn check(self, store: &Store, tag: &str) -> Result<()> {
        let Some(before) = before_dot(tag).filter(|_| self.may_refuse(tag)) else { return Ok(()) };
        let Some(max_id) = store.max_id(before).await? else { return Ok(()) };
        match store.max_id(tag).await? {
            Some(_) => Err(refused(tag, before, max_id)),
            None => Ok(()),
        }
    }

    /// To be called before a tag is made or changed. Errors: `invalid_argument` for a new one with two counters, and for
    /// one that begins below ids which another row has given by this name.
    pub(crate) async fn check_new(self, store: &Store, tag: &str, first: i64) -> Result<()> {
        if store.max_id(tag).await?.is_some() {
            return Ok(());
        }
        if let Some(before) = before_dot(tag).filter(|_| self != Dots::Cut) {
            match store.max_id(before).await? {
                Some(max_id) if self == Dots::Refused => return Err(refused(tag, before, max_id)),
                Some(max_id) if first < max_id => log::warn!("{}", again(tag, before, &max_id.to_string())),
                None if first <= 1 => log::warn!("{}", again(tag, before, "N")),
                _ => {}
            }
        }
        if self == Dots::Whole {
            return Ok(());
        }
        let dotted = store.tags_of(&format!("{tag}.")).await?;
        let dotted = dotted.into_iter().filter(|(dotted, _)| before_dot(dotted) == Some(tag));
        match dotted.max_by_key(|(_, max_id)| *max_id) {
            Some((dotted, max_id)) if first < max_id => {
                let allowed = format!(
                    "{max_id} or more, the highest max_id of the rows {:?}, for a Leaf or a server with --strict-leaf \
                     gives {dotted:?} ids of {tag:?}: leafid-server tag {tag:?} --first {max_id}",
                    format!("{tag}.…")
                );
                Err(Error::invalid("first", first, &allowed))
            }
            _ => Ok(()),
        }
    }

    /// A line for each tag that has two counters, or, where tags are cut, one out of reach; and whether all is
    /// right with it.
    pub(crate) async fn clashes(self, store: &Store) -> Result<Vec<(bool, String)>> {
        if self == Dots::Whole {
            return Ok(Vec::new());
        }
        Ok(self.clashes_of(&store.all_tag_rows().await?))
    }

    /// The same of these rows.
    pub(crate) fn clashes_of(self, rows: &[TagRow]) -> Vec<(bool, String)> {
        let counters: HashMap<&str, i64> = rows.iter().map(|row| (row.tag.as_str(), row.max_id)).collect();
        let mut found: Vec<&TagRow> = rows.iter().collect();
        found.sort_unstable_by_key(|row| &row.tag);
        let clash = |TagRow { tag, max_id, .. }: &TagRow| {
            let before = before_dot(tag)?;
            let counter = *counters.get(before)?;
            if self != Dots::Cut {
                return Some((false, refused(tag, before, counter).message().to_owned()));
            }
            let unused =
                format!("the row {tag:?} is never used: with strict-leaf this tag has the ids of {before:?}");
            Some(match counter < *max_id {
                true => (false, format!("{unused}, {}", raise(before, counter, *max_id))),
                false => (true, unused),
            })
        };
        found.into_iter().filter_map(clash).collect()
    }
}

/// Spring takes what follows the last dot for the ending of a file's name.
pub(crate) fn before_dot(tag: &str) -> Option<&str> {
    tag.rsplit_once('.').map(|(before, _)| before)
}

fn refused(tag: &str, before: &str, max_id: i64) -> Error {
    let allowed = format!(
        "{before:?}, which has a row, and a Leaf or a server with --strict-leaf gives {tag:?} ids of it: delete one of \
         the rows, or set --allow-dotted-tags if no such server uses this store. Where one did, begin {tag:?} at or above \
         the max_id of {before:?}, or its ids come again: leafid-server tag {tag:?} --first {max_id}"
    );
    Error::invalid("tag", format!("{tag:?}"), &allowed)
}

/// Of a new tag that begins below what another server may have given.
fn again(tag: &str, before: &str, max_id: &str) -> String {
    format!(
        "if a Leaf or a server with --strict-leaf gave ids of {tag:?}, they were those of {before:?}, and come again: \
         begin at or above the max_id of that row: leafid-server tag {tag:?} --first {max_id}"
    )
}

fn raise(before: &str, counter: i64, max_id: i64) -> String {
    format!(
        "whose max_id is {counter}: ids below {max_id} that the row gave come again, unless you run leafid-server tag \
         {before:?} --first {max_id}"
    )
}
