//! The options of segments.

use crate::block_tags::{blocks_of, is_block};
use crate::options::allowed::allowed;
use crate::options::checks::refuse_options_of;
use crate::quoted::Quoted;
use crate::secrets::shown_urls;
use crate::spelling::name::BLOCK_SIZE;
use crate::{Error, IdOrder, LARGEST_STEP, Result};
use alloc::format;
use alloc::string::String;

/// The largest number of tags that are fetched at an opening.
pub const MOST_PREWARMED: usize = 1_000;

/// Where segments come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceChoice<'o, F> {
    /// The callback `fetch`.
    Callback(&'o F),
    /// Counters in the directory with this path.
    File(&'o str),
    /// The servers of the list.
    Servers,
}

impl<'o, F> SourceChoice<'o, F> {
    /// Chooses by the options `fetch` and `servers`. `for_servers` and `for_file` are the options that only one of the
    /// sources has, and whether each is set.
    ///
    /// Errors: `invalid_argument`.
    pub fn new(
        fetch: Option<&'o F>,
        servers: &'o [String],
        for_servers: &[(&str, bool)],
        for_file: &[(&str, bool)],
    ) -> Result<SourceChoice<'o, F>> {
        let is_file = |server: &String| server.starts_with("file:");
        match (fetch, servers) {
            (Some(_), [_, ..]) => Err(Error::invalid("fetch", "set together with servers", "one of the two")),
            (None, []) => Err(Error::invalid("servers", "not set, nor is fetch", allowed("servers"))),
            (Some(fetch), []) => {
                refuse_options_of("servers over HTTP", for_servers)?;
                refuse_options_of("file:DIR", for_file)?;
                Ok(SourceChoice::Callback(fetch))
            }
            (None, [file]) if is_file(file) => {
                refuse_options_of("servers over HTTP", for_servers)?;
                let path = &file["file:".len()..];
                match path.is_empty() || path.contains('\0') {
                    true => Err(Error::invalid("servers", Quoted(file), allowed("servers"))),
                    false => Ok(SourceChoice::File(path)),
                }
            }
            (None, servers) if servers.iter().any(is_file) => {
                Err(Error::invalid("servers", shown_urls(servers), allowed("servers")))
            }
            (None, _) => {
                refuse_options_of("file:DIR", for_file)?;
                Ok(SourceChoice::Servers)
            }
        }
    }
}

/// Errors: `invalid_argument` for text that is not a valid tag.
pub fn check_tag(tag: &str) -> Result<()> {
    match (1..=128).contains(&tag.len()) && !tag.chars().any(char::is_control) {
        true => Ok(()),
        false => Err(Error::invalid("tag", Quoted(tag), allowed("tag"))),
    }
}

/// The same for a server's tag, which is a row of a table: the column counts characters, as that of a Leaf.
pub fn check_row_tag(tag: &str) -> Result<()> {
    match (1..=128).contains(&tag.chars().take(129).count()) && !tag.chars().any(char::is_control) {
        true => Ok(()),
        false => Err(Error::invalid("tag", Quoted(tag), "1 to 128 characters without control characters")),
    }
}

/// Checks a tag of a source that is no Leaf. The clients of a Leaf take the numbers of a tag called `…-xN` for blocks
/// of ids, and here each would be an id. `block_size`: 1 is the user's word that no client takes them so.
///
/// Errors: `invalid_argument`.
pub fn check_tag_of_ids(tag: &str, block_size: Option<i64>) -> Result<()> {
    match blocks_of(tag).filter(|&blocks| is_block(blocks) && block_size != Some(1)) {
        None => Ok(()),
        Some(blocks) => {
            let allowed = format!(
                "of another name: with protocol \"leaf\" and {BLOCK_SIZE} {blocks} the numbers of this tag stand for \
                 {blocks} ids each, and here they would be ids; set {BLOCK_SIZE} to 1 if nobody takes them so"
            );
            Err(Error::invalid("tag", Quoted(tag), &allowed))
        }
    }
}

/// Whether `block_size` is set to what only a Leaf has: 1 is for all other sources.
pub fn has_blocks(block_size: Option<i64>) -> bool {
    block_size.is_some_and(|size| size != 1)
}

/// Errors: `invalid_argument` for unused ids that are to be kept where nothing is stored.
pub fn check_keep_unused(keep_unused: bool, persist: bool) -> Result<()> {
    match keep_unused && !persist {
        true => {
            let allowed = "false with persist = false: nothing can be kept";
            Err(Error::invalid("keep_unused", "true", allowed))
        }
        false => Ok(()),
    }
}

/// Errors: `invalid_argument`.
pub fn check_step(step: Option<i64>) -> Result<()> {
    match step {
        None | Some(1..=LARGEST_STEP) => Ok(()),
        Some(step) => Err(Error::invalid("step", step, allowed("step"))),
    }
}

/// The percentage of a segment that is left when the next one is fetched. Errors: `invalid_argument`.
pub fn prefetch(percent: Option<i64>) -> Result<u32> {
    match percent.unwrap_or(10) {
        // It fits, because it is checked here.
        percent @ 0..=100 => Ok(percent as u32),
        percent => Err(Error::invalid("prefetch", percent, allowed("prefetch"))),
    }
}

/// Whether this number of tags may be fetched at an opening. Errors: `invalid_argument`.
pub fn check_prewarm(tags: usize) -> Result<()> {
    match tags {
        ..=MOST_PREWARMED => Ok(()),
        _ => Err(Error::invalid("prewarm", format!("{tags} tags"), allowed("prewarm"))),
    }
}

/// The order of the ids of a source. `ascending`: by default each lies above the earlier ones.
pub fn id_order(ordered_source: Option<bool>, ascending: bool) -> IdOrder {
    if ordered_source.unwrap_or(ascending) { IdOrder::Ascending } else { IdOrder::Ranges }
}

/// The number of ids in one response of a Leaf. `has_blocks`: whether the protocol has blocks of ids.
///
/// Errors: `invalid_argument`.
pub fn block_size(block_size: Option<i64>, has_blocks: bool) -> Result<i64> {
    match block_size {
        None => Ok(1),
        Some(1) if !has_blocks => Ok(1),
        Some(size) if !has_blocks => {
            Err(Error::invalid("block_size", size, "set only with protocol \"leaf\""))
        }
        Some(size @ 2..=LARGEST_STEP) => Ok(size),
        Some(size) => Err(Error::invalid("block_size", size, allowed("block_size"))),
    }
}

/// Errors: `invalid_argument` for a Leaf whose ids are said to come in order.
pub fn check_leaf_order(ordered_source: Option<bool>) -> Result<()> {
    match ordered_source {
        Some(true) => {
            let allowed = "false with a Leaf: the ids of its nodes, and of several connections, interleave";
            Err(Error::invalid("ordered_source", true, allowed))
        }
        _ => Ok(()),
    }
}

/// Errors: `invalid_argument` for a step, because a tinyid has its own.
pub fn check_tinyid_step(step: Option<i64>) -> Result<()> {
    match step {
        Some(step) => {
            let allowed = "not set with protocol \"tinyid\", whose table tiny_id_info says the step";
            Err(Error::invalid("step", step, allowed))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn a_source_is_chosen_by_its_options_alone() {
        let choose = |has_fetch: bool, servers: &[&str], for_servers, for_file| {
            let servers: Vec<String> = servers.iter().map(|&server| server.into()).collect();
            let (for_servers, for_file) = ([("token", for_servers)], [("create", for_file)]);
            match SourceChoice::new(has_fetch.then_some(&()), &servers, &for_servers, &for_file) {
                Ok(SourceChoice::Callback(())) => "callback".into(),
                Ok(SourceChoice::File(path)) => format!("file {path}"),
                Ok(SourceChoice::Servers) => "servers".into(),
                Err(error) => error.message().split(';').next().unwrap_or_default().into(),
            }
        };
        for (has_fetch, servers, for_servers, for_file, chosen) in [
            (true, &[][..], false, false, "callback"),
            (true, &[], true, false, "token is set"),
            (true, &[], false, true, "create is set"),
            (true, &["file:a"], false, false, "fetch is set together with servers"),
            (false, &[], false, false, "servers is not set, nor is fetch"),
            (false, &["file:a"], false, true, "file a"),
            (false, &["file:a"], true, false, "token is set"),
            (false, &["file:"], false, false, "servers is \"file:\""),
            (false, &["file:a\0"], false, false, "servers is \"file:a\\0\""),
            (false, &["file:a", "http://b"], false, false, "servers is file:a, http://b"),
            (false, &["http://a", "http://b"], true, false, "servers"),
            (false, &["http://a"], false, true, "create is set"),
        ] {
            assert_eq!(choose(has_fetch, servers, for_servers, for_file), chosen, "{has_fetch} {servers:?}");
        }
    }

    #[test]
    fn numbers_are_accepted_up_to_their_bounds() {
        let are = |check: &dyn Fn(i64) -> bool, numbers: [i64; 4]| numbers.map(check);
        let both = [false, true, true, false];
        assert_eq!(are(&|step| check_step(Some(step)).is_ok(), [0, 1, LARGEST_STEP, LARGEST_STEP + 1]), both);
        assert_eq!(are(&|percent| prefetch(Some(percent)).is_ok(), [-1, 0, 100, 101]), both);
        assert_eq!(
            are(&|size| block_size(Some(size), true).is_ok(), [1, 2, LARGEST_STEP, LARGEST_STEP + 1]),
            both
        );
        let is_tag = |length| check_tag(&"x".repeat(length as usize)).is_ok();
        assert_eq!(are(&is_tag, [0, 1, 128, 129]), both);
        let is_row = |length| check_row_tag(&"\u{8a02}".repeat(length as usize)).is_ok();
        assert_eq!(are(&is_row, [0, 1, 128, 129]), both);
        assert!(check_prewarm(MOST_PREWARMED).is_ok() && check_prewarm(MOST_PREWARMED + 1).is_err());
        assert_eq!((prefetch(None), block_size(None, false)), (Ok(10), Ok(1)));
        assert!(check_step(None).is_ok() && check_tag("a\n").is_err() && check_row_tag("a\n").is_err());
    }

    #[test]
    fn a_tag_of_blocks_is_of_a_leaf_unless_the_user_says_otherwise() {
        for (tag, is_of_blocks) in [
            ("order-x2", true),
            ("order-x100", true),
            ("order-x1000000", true),
            ("a.b/c-x10", true),
            ("order-x1000001", false),
            ("order-x1", false),
            ("order-x0", false),
            ("order-x01", false),
            ("order-x", false),
            ("orderx10", false),
            ("order-x10a", false),
            ("-x10", false),
            ("order", false),
        ] {
            assert_eq!(check_tag_of_ids(tag, None).is_err(), is_of_blocks, "{tag}");
            assert!(check_tag_of_ids(tag, Some(1)).is_ok(), "{tag}");
        }
        let error = check_tag_of_ids("order-x100", Some(100)).unwrap_err();
        assert!(error.message().starts_with("tag is \"order-x100\"; allowed: of another name: "), "{error}");
        assert!(error.message().ends_with("set block_size to 1 if nobody takes them so"), "{error}");
        assert!(block_size(Some(1), false).is_ok() && block_size(Some(1), true).is_err());
        assert_eq!([None, Some(1), Some(2), Some(0)].map(has_blocks), [false, false, true, true]);
    }

    #[test]
    fn options_that_contradict_each_other_are_refused() {
        for (keep_unused, persist, is_ok) in [(true, true, true), (true, false, false), (false, false, true)]
        {
            assert_eq!(check_keep_unused(keep_unused, persist).is_ok(), is_ok);
        }
        assert!(block_size(Some(2), false).is_err());
        assert_eq!(
            [None, Some(false), Some(true)].map(|set| check_leaf_order(set).is_ok()),
            [true, true, false]
        );
        assert!(check_tinyid_step(None).is_ok() && check_tinyid_step(Some(5)).is_err());
    }
}
