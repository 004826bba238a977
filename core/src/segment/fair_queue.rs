//! A fair queue of waiting jobs: one line for each source, so that a source with many tags does not delay the others.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// A queue for each source. A number identifies the source.
#[derive(Debug)]
pub(crate) struct FairQueue<T> {
    lines: Vec<(usize, VecDeque<T>)>,
    len: usize,
}

impl<T> Default for FairQueue<T> {
    fn default() -> FairQueue<T> {
        FairQueue { lines: Vec::new(), len: 0 }
    }
}

impl<T> FairQueue<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn push(&mut self, source: usize, waiting: T) {
        self.len += 1;
        match self.lines.iter_mut().find(|(of, _)| *of == source) {
            Some((_, line)) => line.push_back(waiting),
            None => self.lines.push((source, VecDeque::from([waiting]))),
        }
    }

    /// The source with the smallest `busy`; among equals, the one that was served longest ago. A source whose `busy` is
    /// `None` is skipped; `None` if all are skipped.
    pub(crate) fn next(&self, busy: impl Fn(usize) -> Option<usize>) -> Option<usize> {
        let lines = self.lines.iter().filter_map(|(of, _)| Some((*of, busy(*of)?)));
        lines.min_by_key(|(_, busy)| *busy).map(|(of, _)| of)
    }

    /// The oldest job of this source.
    pub(crate) fn take(&mut self, source: usize) -> Option<T> {
        let at = self.lines.iter().position(|(of, _)| *of == source)?;
        let (_, mut line) = self.lines.remove(at);
        let first = line.pop_front()?;
        self.len -= 1;
        if !line.is_empty() {
            self.lines.push((source, line));
        }
        Some(first)
    }

    /// All waiting jobs of this source.
    pub(crate) fn take_all(&mut self, source: usize) -> VecDeque<T> {
        let Some(at) = self.lines.iter().position(|(of, _)| *of == source) else { return VecDeque::new() };
        let (_, line) = self.lines.remove(at);
        self.len -= line.len();
        line
    }

    /// All waiting jobs.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = T> + use<T> {
        self.len = 0;
        core::mem::take(&mut self.lines).into_iter().flat_map(|(_, line)| line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_source_has_its_turn() {
        let mut lines = FairQueue::default();
        for n in 0..3 {
            lines.push(7, (7, n));
        }
        lines.push(8, (8, 0));
        lines.push(9, (9, 0));
        let mut served = Vec::new();
        while let Some(next) = lines.next(|_| Some(0)) {
            served.extend(lines.take(next));
        }
        assert_eq!(served, [(7, 0), (8, 0), (9, 0), (7, 1), (7, 2)]);
        assert!(lines.is_empty());
        lines.push(7, (7, 3));
        lines.push(8, (8, 1));
        assert_eq!(lines.next(|of| Some(if of == 7 { 2 } else { 1 })), Some(8), "the one with fewer threads");
        assert_eq!(lines.next(|of| (of == 7).then_some(9)), Some(7));
        assert_eq!((lines.take_all(7), lines.len()), (VecDeque::from([(7, 3)]), 1));
        assert_eq!(lines.drain().count(), 1);
        assert_eq!(lines.len(), 0);
    }
}
