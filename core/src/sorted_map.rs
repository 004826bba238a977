//! Maps in order.

use alloc::vec::Vec;
use core::borrow::Borrow;
use core::hash::{Hash, Hasher};

/// The largest number of entries of one part of a map.
const MOST: usize = 128;

/// A map in the order of its keys: a list of sorted lists, so that a change moves the entries of one of these alone.
///
/// The tree of the standard library is six times as much code for each kind of entries, and the core has many kinds.
#[derive(Clone, Debug)]
pub(crate) struct SortedMap<K, V>(Vec<Vec<(K, V)>>);

impl<K, V> SortedMap<K, V> {
    pub(crate) const fn new() -> SortedMap<K, V> {
        SortedMap(Vec::new())
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    /// The entry with the lowest key.
    pub(crate) fn first(&self) -> Option<&(K, V)> {
        self.0.first()?.first()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(K, V)> {
        self.0.iter().flatten()
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.0.iter_mut().flatten().map(|(_, value)| value)
    }

    pub(crate) fn into_keys(self) -> impl Iterator<Item = K> {
        self.0.into_iter().flatten().map(|(key, _)| key)
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// The part of a key, and its place there: where it is, or where it would be.
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> (usize, Result<usize, usize>)
    where
        K: Borrow<Q>,
    {
        let begins_before = |part: &Vec<(K, V)>| part.first().is_some_and(|(first, _)| first.borrow() <= key);
        let part = self.0.partition_point(begins_before).saturating_sub(1);
        let place = |part: &Vec<(K, V)>| part.binary_search_by(|(known, _)| known.borrow().cmp(key));
        (part, self.0.get(part).map_or(Err(0), place))
    }

    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let (part, at) = self.find(key);
        self.0.get(part)?.get(at.ok()?).map(|(_, value)| value)
    }

    pub(crate) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let (part, at) = self.find(key);
        self.0.get_mut(part)?.get_mut(at.ok()?).map(|(_, value)| value)
    }

    pub(crate) fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.get(key).is_some()
    }

    pub(crate) fn insert(&mut self, key: K, value: V) {
        match self.find(&key) {
            (part, Ok(at)) => self.0[part][at].1 = value,
            (part, Err(at)) => drop(self.put(part, at, (key, value))),
        }
    }

    /// The value of a key, which has one then.
    pub(crate) fn or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        match self.find(&key) {
            (part, Ok(at)) => &mut self.0[part][at].1,
            (part, Err(at)) => self.put(part, at, (key, V::default())),
        }
    }

    /// Puts in an entry at its place.
    fn put(&mut self, mut part: usize, mut at: usize, entry: (K, V)) -> &mut V {
        if self.0.is_empty() {
            self.0.push(Vec::new());
        }
        if self.0[part].len() == MOST {
            // Keys that come in order, as numbers do, leave full parts behind. Between two parts this would let each key have a
            // part of its own.
            let keeps = if at == MOST && part + 1 == self.0.len() { MOST } else { MOST / 2 };
            let rest = self.0[part].split_off(keeps);
            self.0.insert(part + 1, rest);
            if at >= keeps {
                (part, at) = (part + 1, at - keeps);
            }
        }
        self.0[part].insert(at, entry);
        &mut self.0[part][at].1
    }

    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let (part, at) = self.find(key);
        let (_, value) = self.0.get_mut(part)?.remove(at.ok()?);
        if let [.., before, entries] = &mut self.0[..=part]
            && before.len() + entries.len() <= MOST / 2
        {
            before.append(entries);
        }
        if self.0[part].is_empty() {
            self.0.remove(part);
        }
        Some(value)
    }
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> SortedMap<K, V> {
        SortedMap::new()
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for SortedMap<K, V> {
    fn eq(&self, other: &SortedMap<K, V>) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<K: Eq, V: Eq> Eq for SortedMap<K, V> {}

impl<K: Hash, V: Hash> Hash for SortedMap<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len().hash(state);
        self.iter().for_each(|entry| entry.hash(state));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;

    #[test]
    fn it_does_what_the_tree_of_the_standard_library_does() {
        for (keys, ends) in [(10, 1_000), (1_000, 20_000), (100_000, 20_000)] {
            let (mut map, mut tree, mut random) = (SortedMap::new(), BTreeMap::new(), 1u64);
            for count in 0..2 * ends {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let key = (random >> 33) % keys;
                // First more come than go, then more go.
                let comes = (random >> 20) % 4 != 0;
                if comes == (count < ends) {
                    map.insert(key, count);
                    tree.insert(key, count);
                } else {
                    assert_eq!(map.remove(&key), tree.remove(&key));
                }
                assert_eq!((map.get(&key), map.is_empty()), (tree.get(&key), tree.is_empty()));
                if count % 3 == 0 {
                    (*map.or_default(key + 1), *tree.entry(key + 1).or_default()) = (count, count);
                }
                assert_eq!(map.first().map(|(key, _)| key), tree.keys().next());
            }
            assert!(map.iter().map(|(key, value)| (key, value)).eq(&tree), "{keys}");
            assert!(map.0.iter().all(|part| (1..=MOST).contains(&part.len())), "{keys}");
        }
    }

    #[test]
    fn keys_that_come_in_order_fill_their_parts() {
        let mut map = SortedMap::new();
        (0..10 * MOST).for_each(|key| map.insert(key, ()));
        assert!(map.0.iter().all(|part| part.len() == MOST));
        // Behind a full part and before others: each of them would begin a part.
        (11 * MOST..21 * MOST).rev().for_each(|key| map.insert(key, ()));
        assert!(map.0.len() <= 40, "{}", map.0.len());
    }

    #[test]
    fn entries_decide_whether_two_are_equal() {
        let (mut map, mut other) = (SortedMap::new(), SortedMap::new());
        (0..200).for_each(|key| map.insert(key, ()));
        (0..200).rev().for_each(|key| other.insert(key, ()));
        assert_ne!(map.0, other.0);
        assert_eq!(map, other);
        other.remove(&7);
        assert_ne!(map, other);
    }
}
