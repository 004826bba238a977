//! Tags take turns: the next request is for the tag with the fewest under way.

use crate::cases::holds;
use leafid_core::segment::Turns;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Operation {
    Want(u8, u64, usize),
    Next,
    /// One of those under way ends.
    End(usize),
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        2 => (0..6u8, 0..30u64, 1..5usize).prop_map(|(tag, wanted, most)| Operation::Want(tag, wanted, most)),
        6 => Just(Operation::Next),
        5 => any::<usize>().prop_map(Operation::End),
    ];
    prop::collection::vec(operation, 1..300)
}

/// Of the tags of which a request may be made, none has fewer under way than the one that is next, nor as many and was
/// served longer ago.
#[test]
fn the_next_one_is_who_has_least() {
    holds(300, (1..6usize, operations()), |(most, operations)| {
        let mut turns = Turns::new(most);
        let mut under_way: Vec<u8> = Vec::new();
        let (mut wanted, mut limit, mut last) = ([0u64; 6], [1usize; 6], [0usize; 6]);
        for (at, operation) in operations.into_iter().enumerate() {
            match operation {
                Operation::Want(tag, many, most) => {
                    turns.want(&tag, many, most);
                    (wanted[tag as usize], limit[tag as usize]) = (many, most);
                }
                Operation::End(which) => {
                    if !under_way.is_empty() {
                        turns.ended(&under_way.swap_remove(which % under_way.len()));
                    }
                }
                Operation::Next => {
                    let of = |tag: usize| under_way.iter().filter(|other| **other as usize == tag).count();
                    let ready: Vec<usize> =
                        (0..6).filter(|&tag| wanted[tag] > 0 && of(tag) < limit[tag]).collect();
                    let least = ready.iter().map(|&tag| (of(tag), last[tag])).min();
                    let least = least.filter(|_| under_way.len() < most);
                    let next = turns.begin();
                    prop_assert_eq!(next.map(|tag| (of(tag as usize), last[tag as usize])), least);
                    if let Some(tag) = next {
                        wanted[tag as usize] -= 1;
                        last[tag as usize] = at + 1;
                        under_way.push(tag);
                    }
                }
            }
            for tag in 0..6u8 {
                prop_assert_eq!(turns.wanted(&tag), wanted[tag as usize]);
                prop_assert_eq!(
                    turns.under_way(&tag),
                    under_way.iter().filter(|other| **other == tag).count()
                );
            }
        }
        Ok(())
    });
}
