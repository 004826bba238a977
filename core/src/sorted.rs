//! Lists in order.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;

/// The items in order. The lists are short; a heap takes a tenth of the code of the sort of slices, and there are many
/// kinds of items.
pub(crate) fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let items: Vec<T> = items.into_iter().collect();
    BinaryHeap::from(items).into_sorted_vec()
}
