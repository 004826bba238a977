//! Tags with a dot. A stock Leaf, and a server with `--strict-leaf`, cuts `shop.order` at its last dot and gives ids of
//! the row `shop`. Where `shop.order` has a row of its own, two servers of one table would give it from two counters.

use crate::options::Options;
use crate::store::Store;
use leafid_core::{Error, Result};
use std::collections::HashSet;

const PAGE: usize = 1_000;

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
        match store.has_tag(before).await? && store.has_tag(tag).await? {
            true => Err(refused(tag, before)),
            false => Ok(()),
        }
    }

    /// The same for a tag that is to be made.
    pub(crate) async fn check_new(self, store: &Store, tag: &str) -> Result<()> {
        let Some(before) = before_dot(tag).filter(|_| self.may_refuse(tag)) else { return Ok(()) };
        match store.has_tag(before).await? && !store.has_tag(tag).await? {
            true => Err(refused(tag, before)),
            false => Ok(()),
        }
    }

    /// A line for each tag that has two counters, or, where tags are cut, one that nobody can reach.
    pub(crate) async fn clashes(self, store: &Store) -> Result<Vec<String>> {
        if self == Dots::Whole {
            return Ok(Vec::new());
        }
        let (mut tags, mut after) = (HashSet::new(), String::new());
        loop {
            let rows = store.tag_rows(&after, PAGE).await?;
            let is_last = rows.len() < PAGE;
            if let Some(last) = rows.last() {
                after.clone_from(&last.tag);
            }
            tags.extend(rows.into_iter().map(|row| row.tag));
            if is_last {
                break;
            }
        }
        let clash = |tag: &String| {
            before_dot(tag).filter(|before| tags.contains(*before)).map(|b| (tag.clone(), b.to_owned()))
        };
        let mut found: Vec<_> = tags.iter().filter_map(clash).collect();
        found.sort_unstable();
        Ok(found
            .iter()
            .map(|(tag, before)| match self {
                Dots::Cut => format!(
                    "the row {tag:?} is never used: with strict-leaf this tag has the ids of {before:?}"
                ),
                _ => refused(tag, before).message().to_owned(),
            })
            .collect())
    }
}

/// Spring takes what follows the last dot for the ending of a file's name.
fn before_dot(tag: &str) -> Option<&str> {
    tag.rsplit_once('.').map(|(before, _)| before)
}

fn refused(tag: &str, before: &str) -> Error {
    let allowed = format!(
        "{before:?}, for both have a row, and a Leaf or a server with --strict-leaf gives {tag:?} ids of {before:?}: \
         delete one of the rows, or set --allow-dotted-tags if no such server uses this store"
    );
    Error::invalid("tag", format!("{tag:?}"), &allowed)
}
