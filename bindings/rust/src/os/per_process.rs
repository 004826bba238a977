//! A value of this process: a forked child has none until it installs its own, and never touches its parent's.

use super::process;
use super::sync::atomic::{AtomicPtr, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed};
use std::ptr;

/// A value that belongs to the process that installed it. It is lock-free, so a fork in the middle does no harm.
///
/// In a child an ancestor's value is leaked: dropping it would unlock, join or write something of the parent.
pub(crate) struct PerProcess<T: Send + Sync> {
    node: AtomicPtr<Node<T>>,
}

struct Node<T> {
    generation: u64,
    value: T,
    /// The replaced value. Others may still read it, so it is freed with the cell.
    before: *mut Node<T>,
}

impl<T: Send + Sync> PerProcess<T> {
    #[cfg(not(leafid_loom))]
    pub(crate) const fn new() -> Self {
        PerProcess { node: AtomicPtr::new(ptr::null_mut()) }
    }

    // loom makes its atomics at run time.
    #[cfg(leafid_loom)]
    pub(crate) fn new() -> Self {
        PerProcess { node: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The value and its generation, which may be an ancestor's. A result made with the value counts only if
    /// [`process::generation`] still returns that generation afterwards.
    #[inline]
    pub(crate) fn load(&self) -> Option<(&T, u64)> {
        let node = self.node.load(Acquire);
        // SAFETY: a node, once published, is freed by `drop` alone, which has `&mut self`.
        let node = unsafe { node.as_ref() }?;
        Some((&node.value, node.generation))
    }

    /// This process's value.
    pub(crate) fn get(&self) -> Option<&T> {
        self.load().filter(|&(_, generation)| generation == process::generation()).map(|(value, _)| value)
    }

    /// This process's value, created if there is none. If two threads both create one, one of the two is dropped.
    pub(crate) fn get_or_install(&self, make: impl Fn() -> T) -> &T {
        loop {
            let generation = process::generation();
            if let Some((value, of)) = self.load()
                && of == generation
            {
                return value;
            }
            let _ = self.install(make(), generation);
        }
    }

    /// Installs the value of the process of this generation, which the caller read before it created the value. A value
    /// that was created across a fork belongs to the parent and does not count in the child. If another thread was
    /// first, returns the given value.
    pub(crate) fn install(&self, value: T, generation: u64) -> Result<(), T> {
        let fresh = Box::into_raw(Box::new(Node { generation, value, before: ptr::null_mut() }));
        loop {
            let found = self.node.load(Acquire);
            // SAFETY: as in `load`.
            let of = unsafe { found.as_ref() }.map(|node| node.generation);
            if of == Some(generation) || of == Some(process::generation()) {
                // SAFETY: `fresh` was made above and never published.
                return Err(unsafe { Box::from_raw(fresh) }.value);
            }
            // An ancestor's node is never freed.
            if self.node.compare_exchange(found, fresh, AcqRel, Acquire).is_ok() {
                return Ok(());
            }
        }
    }
}

impl<T: Send + Sync> PerProcess<T> {
    /// Replaces this process's own value. Readers may still use the old one: it is freed with the cell.
    pub(crate) fn replace(&self, value: T) {
        let generation = process::generation();
        let fresh = Box::into_raw(Box::new(Node { generation, value, before: ptr::null_mut() }));
        loop {
            let found = self.node.load(Acquire);
            // SAFETY: as in `load`.
            if unsafe { found.as_ref() }.map(|node| node.generation) != Some(generation) {
                // A fork came in between: the value belongs to the parent and is leaked, as all of its values are.
                return;
            }
            // SAFETY: made above and not yet published.
            unsafe { (*fresh).before = found };
            if self.node.compare_exchange(found, fresh, AcqRel, Acquire).is_ok() {
                return;
            }
        }
    }
}

impl<T: Send + Sync + 'static> PerProcess<T> {
    /// The value of whichever process installed it, for a static that is never dropped.
    pub(crate) fn load_any(&'static self) -> Option<&'static T> {
        self.load().map(|(value, _)| value)
    }
}

impl<T: Send + Sync> Drop for PerProcess<T> {
    fn drop(&mut self) {
        let mut node = self.node.load(Relaxed);
        // SAFETY: as in `load`; no other thread has the cell. Only this process's own nodes are freed, and what
        // they replaced is this process's own.
        unsafe {
            while let Some(generation) = node.as_ref().map(|node| node.generation)
                && generation == process::generation()
            {
                node = Box::from_raw(node).before;
            }
        }
    }
}
