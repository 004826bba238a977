//! The error for an option that nothing has: which one may be meant, and which there are.

use crate::Error;
use crate::quoted::Quoted;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Our options, and what other generators call them, as [`plain`] makes it. One that is near to ours is found without.
const ALIASES: [(&str, &str); 7] = [
    (
        "worker",
        "workerid machine machineid node nodeid instance instanceid datacenter datacenterid shardid processid",
    ),
    ("epoch_ms", "epoch twepoch customepoch epochstart startepoch starttime basetime"),
    ("layout", "bits timestampbits workerbits workeridbits nodebits sequencebits tickms"),
    ("name", "namespace idspace"),
    ("state_dir", "state statepath dir directory path datadir"),
    ("servers", "url urls host hosts address addresses endpoint endpoints"),
    ("step", "batch batchsize rangesize allocationsize"),
];

/// What differs by more letters is not near.
const MOST_EDITS: usize = 2;

/// `invalid_argument` for an option that is none of those `known`, which are separated by a comma and a space, in the
/// spelling of the language: with the one that is called so elsewhere, or the nearest one, if there is any.
#[cold]
pub fn unknown_option(name: &str, known: &str) -> Error {
    let (what, meant) = meant(name, known).unwrap_or_default();
    Error::invalid(&Quoted(name).to_string(), format_args!("an unknown option{what}{meant}"), known)
}

/// The option that may be meant, after what a message says of it.
fn meant<'known>(name: &str, known: &'known str) -> Option<(&'static str, &'known str)> {
    let given = plain(name);
    let known = || known.split(", ").map(|known| (known, plain(known)));
    let alias = ALIASES.iter().find(|(_, others)| others.split(' ').any(|other| other == given));
    if let Some((found, _)) = alias.and_then(|(ours, _)| known().find(|(_, known)| *known == plain(ours))) {
        return Some(("; here it is ", found));
    }
    let edits = known().map(|(known, plain)| (known, edits(given.as_bytes(), plain.as_bytes())));
    let (nearest, edits) = edits.min_by_key(|(_, edits)| *edits)?;
    (edits <= MOST_EDITS && 2 * edits < given.len()).then_some(("; the nearest is ", nearest))
}

/// The letters and digits, in lower case: languages differ by the rest.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// How many letters are to be added, removed or replaced to make one of the other (Levenshtein's distance); of lengths
/// that differ too much, more than the most.
fn edits(one: &[u8], other: &[u8]) -> usize {
    if one.len().abs_diff(other.len()) > MOST_EDITS {
        return MOST_EDITS + 1;
    }
    // To make the first letters of the other, by their number, of the letters seen so far.
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.iter().enumerate() {
        let mut without_both = row[0];
        row[0] = at + 1;
        for (to, expected) in other.iter().enumerate() {
            let replaced = without_both + usize::from(letter != expected);
            without_both = row[to + 1];
            row[to + 1] = replaced.min(without_both + 1).min(row[to] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::{ALIASES, edits, meant, plain};
    use crate::options::{OPTIONS, OptionOf};
    use alloc::vec::Vec;

    #[test]
    fn edits_are_counted() {
        for (one, other, count) in [
            ("name", "name", 0),
            ("nam", "name", 1),
            ("name", "fame", 1),
            ("wroker", "worker", 2),
            ("", "ab", 2),
            ("abc", "cab", 2),
            ("abcd", "dcba", 4),
            ("a", "abcd", 3),
        ] {
            assert_eq!(edits(one.as_bytes(), other.as_bytes()), count, "{one} {other}");
            assert_eq!(edits(other.as_bytes(), one.as_bytes()), count, "{other} {one}");
        }
    }

    #[test]
    fn aliases_are_of_options_and_stand_once() {
        let options: Vec<_> = OPTIONS.iter().map(|row| plain(row.name)).collect();
        let mut all: Vec<_> = ALIASES.iter().flat_map(|(_, others)| others.split(' ')).collect();
        for alias in &all {
            assert!(*alias == plain(alias) && !options.iter().any(|option| option == alias), "{alias}");
        }
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count);
        for (ours, others) in ALIASES {
            let row = OPTIONS.iter().find(|row| row.name == ours).expect("an option");
            let of = if row.of == OptionOf::Both { OptionOf::Segments } else { row.of };
            for other in others.split(' ') {
                assert_eq!(meant(other, &of.names()), Some(("; here it is ", ours)), "{other}");
            }
        }
    }

    #[test]
    fn the_nearest_of_few_letters_and_the_first_of_several_is_meant() {
        for (given, known, found) in [
            ("nam", "layout, name", Some("name")),
            ("na", "layout, name", None),
            ("na", "layout, nam", None),
            ("nam", "fame, name, nama", Some("name")),
            ("epoch", "worker, epochMs", Some("epochMs")),
            ("machine_id", "clock, workerId", None),
            ("worker", "clock, workerId", Some("workerId")),
            ("Worker-ID", "clock, workerId", Some("workerId")),
            ("", "a", None),
            ("ä", "a", None),
        ] {
            assert_eq!(meant(given, known).map(|(_, found)| found), found, "{given} {known}");
        }
    }
}
