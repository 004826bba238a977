//! Lists in order.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;

/// The items in order. The lists are short, and there are many kinds of items: a heap is much less code for each of them
/// than the sort of slices.
pub(crate) fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let items: Vec<T> = items.into_iter().collect();
    BinaryHeap::from(items).into_sorted_vec()
}
