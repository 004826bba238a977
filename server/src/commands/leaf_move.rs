//! Walks the steps of "Replace Leaf" in docs/SERVER.md: looks at the table, says what differs there from what a Leaf
//! does with it, and what to run next. It changes nothing.

use super::opening::open;
use super::settings::stored_value;
use crate::dots::{Dots, before_dot};
use crate::options::Options;
use crate::store::{Store, TagRow};
use leafid_core::options::check_row_tag;
use leafid_core::{Error, Result};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;

/// Ranges that a counter should have left.
const LEFT: i64 = 1_000;

/// How far the move has come, by what the servers of the store have agreed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// No server has started.
    Before,
    /// Servers run with `--strict-leaf`, so that Leaf nodes may run beside them.
    Beside,
    /// Servers run without it.
    After,
}

/// What is said of the table: a line, and whether all is right with it.
type Findings = Vec<(bool, String)>;

/// Prints what it finds. The error counts what is wrong.
pub(super) async fn leaf_move(options: &Options) -> std::result::Result<(), String> {
    let (lines, stage, rows) = look(options).await.map_err(|error| error.to_string())?;
    let wrong = lines.iter().filter(|(is_right, _)| !is_right).count();
    let mut text = String::new();
    // A String takes all that is written.
    for (is_right, line) in lines {
        let _ = writeln!(text, "{} {line}", if is_right { "ok   " } else { "WRONG" });
    }
    for line in next(stage, &rows, wrong) {
        let _ = writeln!(text, "next  {line}");
    }
    // The reader may have gone: the exit status still says what is wrong.
    let _ = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
    if wrong > 0 { Err(format!("{wrong} wrong")) } else { Ok(()) }
}

async fn look(options: &Options) -> Result<(Findings, Stage, Vec<TagRow>)> {
    let store = open(options)?;
    if !matches!(store, Store::Sql(_)) {
        return Err(Error::invalid("store", store.shown(), "the database of a Leaf: mysql://…/leaf"));
    }
    let has_table =
        store.tables().await?.into_iter().any(|(table, is_there)| table == "table leaf_alloc" && is_there);
    if !has_table {
        let value = format!("{}, which has no leaf_alloc", store.shown());
        return Err(Error::invalid("store", value, "the database of a Leaf"));
    }
    let stage = match stored_value(&store.settings().await?, "strict-leaf") {
        None => Stage::Before,
        Some("true") => Stage::Beside,
        Some(_) => Stage::After,
    };
    let rows = store.all_tag_rows().await?;
    let mut lines = vec![(true, format!("{}: leaf_alloc has {} rows", store.shown(), rows.len()))];
    lines.push((true, said(stage).to_owned()));
    if let Err(error) = store.check_tables().await {
        lines.push((false, error.message().to_owned()));
    }
    let collations = store.differences().await?;
    lines.extend(findings(&rows, stage, !collations.is_empty()));
    lines.extend(collations.into_iter().map(|(found, _)| {
        (
            true,
            format!(
                "{found}: by it a Leaf's UPDATE finds other spellings of a name, and here none but its own"
            ),
        )
    }));
    store.close().await;
    Ok((lines, stage, rows))
}

/// What differs in the rows. `finds_more`: the collation takes some names for each other.
fn findings(rows: &[TagRow], stage: Stage, finds_more: bool) -> Findings {
    let dots = if stage == Stage::After { Dots::Refused } else { Dots::Cut };
    let mut lines: Findings = rows.iter().flat_map(of_row).collect();
    if stage != Stage::After {
        lines.extend(asked_in_vain(rows).map(|line| (true, line)));
    }
    lines.extend(dots.clashes_of(rows));
    lines.extend(spellings(rows).map(|names| match finds_more {
        true => (
            false,
            format!(
                "the rows {names} are one by the column's collation: a Leaf raises all of them, and gives the ids of \
                 one. Keep one row, and add the primary key"
            ),
        ),
        false => (true, format!("the rows {names} have a counter each, here as in a Leaf")),
    }));
    lines
}

/// What is wrong with a row by itself, or differs.
fn of_row(row: &TagRow) -> Findings {
    let (TagRow { tag, max_id, step, .. }, mut lines) = (row, Findings::new());
    let mut say = |is_right: bool, line: String| lines.push((is_right, format!("the row {tag:?} {line}")));
    if let Err(error) = check_row_tag(tag) {
        say(false, format!("can be asked of no leafid-server: {}", error.message()));
    } else if tag.contains(['/', '\\', ';']) {
        say(true, "has / or \\ or ; in its name, for which a Leaf cannot be asked".to_owned());
    }
    if *step < 1 {
        say(false, format!("has step {step}, and gives no ids: leafid-server tag {tag:?} --step 1000"));
    }
    if *max_id < 0 {
        let mend = format!("leafid-server tag {tag:?} --first N, with N above all ids that were given");
        say(false, format!("has max_id {max_id}, and gives no ids: {mend}"));
    } else if *max_id == 0 {
        say(
            true,
            "has max_id 0: as in a Leaf the first id is 0 with --strict-leaf, and 1 without".to_owned(),
        );
    } else if max_id.checked_add(step.saturating_mul(LEFT)).is_none() {
        say(false, format!("has max_id {max_id}, and ends soon: ids have 63 bits"));
    }
    lines
}

/// Names with a dot that a Leaf never serves.
fn asked_in_vain(rows: &[TagRow]) -> impl Iterator<Item = String> {
    let tags: HashSet<&str> = rows.iter().map(|row| row.tag.as_str()).collect();
    let dotted = rows.iter().filter_map(|row| Some((&row.tag, before_dot(&row.tag)?)));
    dotted.filter(move |(_, before)| !tags.contains(before)).map(|(tag, before)| {
        format!(
            "the row {tag:?} is asked for in vain: a Leaf, and --strict-leaf, look for {before:?}, which has no row"
        )
    })
}

/// Names that differ by the case of letters, or by spaces at the end, alone.
fn spellings(rows: &[TagRow]) -> impl Iterator<Item = String> {
    let mut spellings: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for TagRow { tag, .. } in rows {
        spellings.entry(tag.trim_end_matches(' ').to_lowercase()).or_default().push(format!("{tag:?}"));
    }
    spellings.into_values().filter(|names| names.len() > 1).map(|names| names.join(" and "))
}

fn said(stage: Stage) -> &'static str {
    match stage {
        Stage::Before => "steps: no leafid-server has started with this table",
        Stage::Beside => "steps: servers have started with --strict-leaf, and Leaf nodes may run beside them",
        Stage::After => "steps: servers have started without --strict-leaf, so no Leaf node may run",
    }
}

/// What to run, in this order.
fn next(stage: Stage, rows: &[TagRow], wrong: usize) -> Vec<String> {
    let mend = (wrong > 0).then(|| "mend what is WRONG, and run leafid-server leaf-move again".to_owned());
    let (first, own, last): (&[&str], Vec<String>, &[&str]) = match stage {
        Stage::Before => (
            &[
                "leafid-server check",
                "leafid-server --strict-leaf --workers 512-1023, beside the Leaf nodes: none of them has these worker ids",
                "leafid-server leaf-move",
            ],
            Vec::new(),
            &[],
        ),
        Stage::Beside => (
            &[
                "put the servers into the balancer, and take the Leaf nodes out one by one",
                "when no Leaf node runs, stop all servers, and run leafid-server leaf-move again: its numbers are those of now",
            ],
            own_counters(rows),
            &[
                "the same for each other tag with a dot that clients ask for, with the max_id of the row before its dot",
                "leafid-server --change-settings: the first server, and then the others without it",
            ],
        ),
        Stage::After => (&["leafid-server check"], Vec::new(), &[]),
    };
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    mend.into_iter().chain(lines(first)).chain(own).chain(lines(last)).collect()
}

/// Gives each row with a dot a counter of its own, above the ids that the row before its dot has given.
fn own_counters(rows: &[TagRow]) -> Vec<String> {
    let counters: HashMap<&str, i64> = rows.iter().map(|row| (row.tag.as_str(), row.max_id)).collect();
    let own = |TagRow { tag, max_id, step, .. }: &TagRow| {
        let (first, step) = (counters.get(before_dot(tag)?)?.max(max_id), step.max(&1));
        Some(format!("leafid-server --allow-dotted-tags tag {tag:?} --step {step} --first {first}"))
    };
    rows.iter().filter_map(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(tag: &str, max_id: i64, step: i64) -> TagRow {
        TagRow { tag: tag.to_owned(), max_id, step, description: String::new(), update_time: String::new() }
    }

    /// The lines of one row, as they are shown.
    fn found(rows: &[TagRow], finds_more: bool) -> Vec<(bool, String)> {
        findings(rows, Stage::Before, finds_more)
    }

    #[test]
    fn what_differs_is_said_of_each_row() {
        assert!(found(&[row("order", 1, 1000), row("shop", i64::MAX - 2_000_000, 1000)], true).is_empty());
        for (tag, max_id, step, is_right, says) in [
            ("order", 1, 0, false, "has step 0"),
            ("order", -5, 10, false, "has max_id -5"),
            ("order", 0, 10, true, "has max_id 0"),
            ("order", i64::MAX - 9_999, 10, false, "ends soon"),
            ("a/b", 1, 10, true, "for which a Leaf cannot be asked"),
            (&"x".repeat(129), 1, 10, false, "can be asked of no leafid-server"),
            ("", 1, 10, false, "can be asked of no leafid-server"),
            ("shop.order", 1, 10, true, "look for \"shop\", which has no row"),
        ] {
            let lines = found(&[row(tag, max_id, step)], false);
            assert!(lines.len() == 1 && lines[0].0 == is_right && lines[0].1.contains(says), "{lines:?}");
        }
    }

    #[test]
    fn rows_that_a_leaf_takes_for_each_other_are_said() {
        let dotted = found(&[row("shop", 500, 10), row("shop.order", 900, 10)], false);
        assert!(matches!(&*dotted, [(false, line)] if line.contains("--first 900")), "{dotted:?}");
        let cases = [row("Order", 1, 10), row("order ", 1, 10)];
        for (finds_more, says) in [(true, "Keep one row"), (false, "a counter each")] {
            let lines = found(&cases, finds_more);
            assert!(
                matches!(&*lines, [(right, line)] if *right != finds_more && line.contains(says)),
                "{lines:?}"
            );
        }
    }

    #[test]
    fn what_to_run_follows_from_the_step() {
        let rows = [row("shop", 500, 10), row("shop.order", 1, 20), row("a.b", 1, 10)];
        assert!(next(Stage::Before, &rows, 0).concat().contains("--strict-leaf --workers 512-1023"));
        let beside = next(Stage::Beside, &rows, 1);
        assert!(
            beside[0].starts_with("mend") && beside.iter().all(|line| !line.contains("\"a.b\"")),
            "{beside:?}"
        );
        let own = "leafid-server --allow-dotted-tags tag \"shop.order\" --step 20 --first 500";
        assert!(beside.iter().any(|line| line == own), "{beside:?}");
        assert_eq!(next(Stage::After, &rows, 0), ["leafid-server check"]);
    }
}
