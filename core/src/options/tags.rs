//! The checks of tags.

use crate::block_tags::{blocks_of, is_block};
use crate::options::allowed::allowed;
use crate::quoted::Quoted;
use crate::spelling::name::BLOCK_SIZE;
use crate::{Error, Result};
use alloc::format;

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
