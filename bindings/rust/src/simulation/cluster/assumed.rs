//! The assumptions of the simulation and its limits, for each line of what docs/RELIABILITY.md does not promise.

use std::collections::BTreeSet;

/// What the worlds satisfy, or why none does it, with the lines of the list that it is for.
pub(crate) const NOT_COVERED: &str = include_str!("assumed.txt");

#[test]
fn what_is_assumed_is_what_is_not_promised() {
    let page = include_str!("../../../../../docs/RELIABILITY.md");
    let after = page.split_once("\n## What is not promised\n").map(|(_, after)| after);
    let section = after.and_then(|after| after.split("\n## ").next()).unwrap_or_default();
    let section = section.split_whitespace().collect::<Vec<_>>().join(" ");
    let rows: BTreeSet<&str> =
        section.split("* **").skip(1).filter_map(|line| Some(line.split_once("**:")?.0)).collect();
    let here: BTreeSet<&str> = NOT_COVERED.lines().filter_map(|line| line.strip_prefix("    of: ")).collect();
    assert_eq!(here, rows, "each row stands here, and says what worlds do");
}
