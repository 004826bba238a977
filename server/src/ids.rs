//! The ids of an answer, and their text. They are kept as runs: a batch is neither listed nor formatted id by id.

use leafid_core::Run;
use serde::{Serialize, Serializer};

/// The digits of the largest number that an id and its stride can make.
const DIGITS: usize = 20;

/// Ids, in the order in which they are given. None is negative. Most requests get one run, which needs no memory of its
/// own.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Ids {
    first: Option<Run>,
    more: Vec<Run>,
}

/// A number in decimal that grows.
struct Decimal {
    digits: [u8; DIGITS],
    /// Where the first digit is that counts.
    start: usize,
}

impl FromIterator<Run> for Ids {
    fn from_iter<I: IntoIterator<Item = Run>>(runs: I) -> Ids {
        let mut runs = runs.into_iter();
        Ids { first: runs.next(), more: runs.collect() }
    }
}

impl FromIterator<i64> for Ids {
    fn from_iter<I: IntoIterator<Item = i64>>(ids: I) -> Ids {
        ids.into_iter().map(|first| Run { first, stride: 1, count: 1 }).collect()
    }
}

impl Ids {
    /// Adds the ids of a run.
    pub(crate) fn push(&mut self, run: Run) {
        match self.first {
            None => self.first = Some(run),
            Some(_) => self.more.push(run),
        }
    }

    fn runs(&self) -> impl Iterator<Item = &Run> {
        self.first.iter().chain(&self.more)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = i64> {
        self.runs().flat_map(|run| (0..run.count as i64).map(|at| run.first + at * run.stride))
    }

    /// Their decimal text, between these words: `[before, between, after]`.
    pub(crate) fn text(&self, [before, between, after]: [&str; 3]) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.longest_text([before, between, after]));
        text.extend_from_slice(before.as_bytes());
        let mut is_first = true;
        for Run { first, stride, count } in self.runs() {
            let mut decimal = Decimal::of(first.unsigned_abs());
            for at in 0..*count {
                if at > 0 {
                    decimal.add(stride.unsigned_abs());
                }
                if !is_first {
                    text.extend_from_slice(between.as_bytes());
                }
                is_first = false;
                text.extend_from_slice(decimal.text());
            }
        }
        text.extend_from_slice(after.as_bytes());
        text
    }

    /// No text is longer, so that it is written into one piece of memory.
    fn longest_text(&self, [before, between, after]: [&str; 3]) -> usize {
        let of_run = |Run { first, stride, count }: &Run| {
            let last = first.saturating_add(stride.saturating_mul(*count as i64 - 1));
            let digits = last.checked_ilog10().unwrap_or(0) as usize + 1;
            count * (digits + between.len())
        };
        let ids: usize = self.runs().map(of_run).sum();
        before.len() + ids.saturating_sub(between.len()) + after.len()
    }
}

/// As an array of numbers.
impl Serialize for Ids {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl Decimal {
    fn of(number: u64) -> Decimal {
        let mut digits = [b'0'; DIGITS];
        let mut buffer = itoa::Buffer::new();
        let text = buffer.format(number).as_bytes();
        let start = DIGITS - text.len();
        digits[start..].copy_from_slice(text);
        Decimal { digits, start }
    }

    /// Most steps change one digit, and need no division of the whole number.
    fn add(&mut self, addend: u64) {
        let (mut carry, mut at) = (addend, DIGITS);
        while carry > 0 && at > 0 {
            at -= 1;
            let sum = carry + u64::from(self.digits[at] - b'0');
            self.digits[at] = b'0' + (sum % 10) as u8;
            carry = sum / 10;
        }
        self.start = self.start.min(at);
    }

    fn text(&self) -> &[u8] {
        &self.digits[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(runs: &[(i64, i64, usize)]) -> Ids {
        runs.iter()
            .map(|(first, stride, count)| Run { first: *first, stride: *stride, count: *count })
            .collect()
    }

    #[test]
    fn the_text_is_that_of_each_id_whatever_the_stride_and_the_length() {
        const MAX: i64 = i64::MAX;
        for ids in [
            runs(&[]),
            runs(&[(0, 1, 1)]),
            runs(&[(0, 1, 1001)]),
            runs(&[(95, 1, 10), (7, 3, 40), (1, 1, 0), (999_999_999_999, 1, 2)]),
            runs(&[(1, 1_000_000_007, 300), (5, 999, 1), (99, 901, 12)]),
            runs(&[(MAX - 20, 1, 21), (MAX - 20, 10, 3), (MAX, 1 << 40, 1), (0, MAX, 2)]),
            [3, 1, 4, 1, 5, MAX].into_iter().collect(),
        ] {
            let texts: Vec<String> = ids.iter().map(|id| id.to_string()).collect();
            let text = ids.text(["<", ", ", ">"]);
            assert_eq!(String::from_utf8_lossy(&text), format!("<{}>", texts.join(", ")));
            assert!(text.len() <= ids.longest_text(["<", ", ", ">"]));
        }
    }
}
