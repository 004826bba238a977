//! The names of tags whose numbers stand for blocks of ids.

use crate::LARGEST_STEP;

/// N of a tag called `…-xN`; 0 if the digits are not a valid number.
pub(crate) fn blocks_of(tag: &str) -> Option<i64> {
    let (name, digits) = tag.rsplit_once('x')?;
    let name = name.strip_suffix('-')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_canonical = !digits.starts_with('0') && !name.is_empty();
    is_number.then(|| digits.parse().ok().filter(|_| is_canonical).unwrap_or(0))
}

/// Whether a block can be of so many ids.
pub(crate) fn is_block(ids: i64) -> bool {
    (2..=LARGEST_STEP).contains(&ids)
}
