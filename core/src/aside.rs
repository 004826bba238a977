//! Parts of a machine that say nothing about what comes next: numbers, texts for the log, statistics.

use core::hash::{Hash, Hasher};
use core::num::NonZeroU64;

/// Two machines that differ in such a part alone are equal, so that a search through their states ends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Aside<T>(pub(crate) T);

/// The number of a call in the machine that asks for it, which its end carries too; none in a call that was made by
/// hand.
pub(crate) type OfCall = Aside<Option<NonZeroU64>>;

impl<T> PartialEq for Aside<T> {
    fn eq(&self, _: &Aside<T>) -> bool {
        true
    }
}

impl<T> Eq for Aside<T> {}

impl<T> Hash for Aside<T> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
