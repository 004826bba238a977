//! The text form of spans in a file. It is short, because many single ids make many spans.
//!
//! Each span is the distance of its start from the start of the one before, its number of ids, and its stride unless
//! that is 1: `1000,5;4,1;-7,2,3`. The span that grew last comes last.

use crate::segment::guard::Guard;
use crate::{IdOrder, Segment};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The largest size of the text in bytes.
pub(crate) const MOST_BYTES: usize = 2_000;

/// The text of a guard's spans. If it is too long for the file, neighbours are joined.
pub(crate) fn shortened(guard: &Guard, order: IdOrder) -> String {
    let mut text = text_of(guard.spans());
    let mut most = guard.spans().len();
    while text.len() > MOST_BYTES && most > 1 {
        most = most * 7 / 8;
        let shorter = Guard::resume(order, guard.mark(), guard.spans().to_vec(), most);
        text = text_of(shorter.spans());
    }
    text
}

fn text_of(spans: &[Segment]) -> String {
    let (mut text, mut before) = (String::new(), 0);
    for span in spans {
        if !text.is_empty() {
            text.push(';');
        }
        text.push_str(&format!("{},{}", span.start() - before, span.len()));
        if span.stride() != 1 {
            text.push_str(&format!(",{}", span.stride()));
        }
        before = span.start();
    }
    text
}

/// Returns `None` for an invalid text.
pub(crate) fn parse(text: &str) -> Option<Vec<Segment>> {
    let mut before = 0i64;
    let spans = text.split(';').filter(|_| !text.is_empty());
    spans
        .map(|span| {
            let mut numbers = span.split(',').map(|number| number.parse::<i64>().ok());
            let (start, count) = (before.checked_add(numbers.next()??)?, numbers.next()??);
            let stride = numbers.next().unwrap_or(Some(1))?;
            before = start;
            let last = start.checked_add(count.checked_sub(1)?.checked_mul(stride)?)?;
            let whole = Segment::new(start, last.checked_add(1)?, stride).ok()?;
            (numbers.next().is_none() && whole.len() as i64 == count).then_some(whole)
        })
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let segment = |start, end, stride| Segment::new(start, end, stride).unwrap();
        let spans = [segment(1_000, 1_005, 1), segment(1_004, 1_005, 1), segment(997, 1_001, 3)];
        assert_eq!(text_of(&spans), "1000,5;4,1;-7,2,3");
        let odd = [segment(0, 1, 1), segment(i64::MAX - 1, i64::MAX, i64::MAX), segment(0, i64::MAX, 1)];
        for spans in [&spans[..], &odd, &[]] {
            assert_eq!(parse(&text_of(spans)).unwrap(), spans);
        }
        for wrong in
            [";", "1", "1,0", "1,-1", "-1,1", "1,2,0", "1,2,3,4", "1,x", "9223372036854775807,2", "1,1;"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn whatever_is_remembered_is_written_and_read() {
        use proptest::prelude::*;
        let small = (0..5_000i64, 1..40i64, 1..5i64);
        let any = (0..i64::MAX, 1..i64::MAX, 1..i64::MAX);
        let offers = prop::collection::vec(prop_oneof![4 => small, 1 => any], 0..300);
        crate::format::cases::holds(1_000, (offers, 1..=1_024usize), |(offers, most)| {
            let mut guard = Guard::resume(IdOrder::Ranges, 0, Vec::new(), most);
            let mut given = Vec::new();
            for (start, length, stride) in offers {
                let Ok(segment) = Segment::new(start, start.saturating_add(length), stride) else { continue };
                given.extend(guard.offer(segment, 0).is_ok().then_some(segment));
            }
            // Unchanged, if it is short enough.
            let text = text_of(guard.spans());
            let read = parse(&text).unwrap();
            let ids = |span: &Segment| (span.start(), span.len(), span.last());
            prop_assert!(read.iter().map(ids).eq(guard.spans().iter().map(ids)), "{}", text);
            // However short the text is, none of the ids is given again after a restart.
            let text = shortened(&guard, IdOrder::Ranges);
            prop_assert!(text.len() <= MOST_BYTES);
            let mut resumed = Guard::resume(IdOrder::Ranges, guard.mark(), parse(&text).unwrap(), most);
            for segment in given {
                let last = Segment::new(segment.last(), segment.last() + 1, 1).unwrap();
                prop_assert!(
                    resumed.offer(segment, 0).is_err() && resumed.offer(last, 0).is_err(),
                    "{:?}",
                    segment
                );
            }
            Ok(())
        });
    }

    #[test]
    fn those_that_are_too_many_are_joined_and_none_is_forgotten() {
        for many in [200, 1_000] {
            let mut guard = Guard::new(IdOrder::Ranges);
            for n in 0..many {
                guard.offer(Segment::new(n * 3_000_000_000, n * 3_000_000_000 + 2, 1).unwrap(), 0).unwrap();
            }
            let text = shortened(&guard, IdOrder::Ranges);
            assert!((MOST_BYTES * 3 / 4..=MOST_BYTES).contains(&text.len()), "{}", text.len());
            let mut read = Guard::resume(IdOrder::Ranges, 0, parse(&text).unwrap(), 1_024);
            for n in 0..many {
                let last = Segment::new(n * 3_000_000_000 + 1, n * 3_000_000_000 + 2, 1).unwrap();
                assert!(read.offer(last, 0).is_err());
            }
        }
    }
}
