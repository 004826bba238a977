//! Tests with several real processes on one directory of counters and one state directory. Some of them are killed.

use super::tests::{ORDER, open};
use super::*;
use crate::programs::this_program;
use crate::segments::high_water::HighWaterMarks;
use leafid_core::Segment;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const DIRECTORY: &str = "LEAFID_TEST_DIRECTORY";
/// The prefix of a line that a child prints for a range that it may use from then on.
const HAS: &str = "has ";
/// The line that a child prints when it has read the unused ids.
const STARTED: &str = "started";

/// The code of the child processes: this test in its own process. Without its variable it does nothing.
#[test]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let directory = Path::new(&directory);
    let source = open(&directory.join("counters"), true, &[("order", ORDER)]).unwrap();
    let env = Arc::new(Env::system());
    let marks = HighWaterMarks::new(
        env,
        Some(&directory.join("state")),
        &source.source_name(),
        leafid_core::IdOrder::Ascending,
        false,
    )
    .unwrap()
    .on_machine("this one");
    let says = |segment: &Segment| println!("\n{HAS}{} {}", segment.start(), segment.end());
    marks.take_unused("order").unwrap().iter().for_each(says);
    println!("\n{STARTED}");
    let until = Instant::now() + Duration::from_millis(400);
    let mut kept = None;
    while Instant::now() < until {
        let after = marks.after("order").unwrap();
        let fetched =
            source.fetch(&FetchRequest { tag: "order".into(), step: 10, after, urgent: false }).unwrap();
        marks.accept("order", &[fetched.segment], after).unwrap();
        // Half of each range is used, and half of the last one is stored for the next start.
        let (start, end) = (fetched.segment.start(), fetched.segment.end());
        says(&Segment::new(start, start + 5, 1).unwrap());
        kept = Some(Segment::new(start + 5, end, 1).unwrap());
    }
    marks.keep_unused("order", kept.as_slice()).unwrap();
}

fn start(directory: &Path) -> Child {
    this_program()
        .args([
            "--exact",
            &format!("{}::child", module_path!().trim_start_matches("leafid::")),
            "--nocapture",
        ])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The ids that a child prints, until it prints `end` or exits. The last line of a killed child may be incomplete.
fn ids(child: &mut Child, end: Option<&str>) -> Vec<i64> {
    let mut ids = Vec::new();
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap());
    let mut line = String::new();
    while lines.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') && Some(line.trim_end()) != end {
        if let Some((start, end)) = line.trim_end().strip_prefix(HAS).and_then(|range| range.split_once(' '))
        {
            ids.extend(start.parse::<i64>().unwrap()..end.parse().unwrap());
        }
        line.clear();
    }
    ids
}

#[test]
fn processes_that_start_at_once_and_are_killed_share_no_id() {
    let dir = tempfile::tempdir().unwrap();
    let mut seen = BTreeSet::new();
    for round in 0..4 {
        let mut children: Vec<Child> = (0..4).map(|_| start(dir.path())).collect();
        // Some children are killed right after their start, some during their fetches.
        for (number, child) in children.iter_mut().enumerate().skip(2) {
            std::thread::sleep(Duration::from_millis(15 * round + 10 * number as u64));
            child.kill().unwrap();
        }
        let mut all = 0;
        for (number, child) in children.iter_mut().enumerate() {
            let ids = ids(child, None);
            assert!(child.wait().unwrap().success() || number >= 2);
            all += ids.len();
            for id in ids {
                assert!(seen.insert(id), "round {round}: {id} twice");
            }
        }
        assert!(all > 100, "round {round}: {all} ids");
    }
    // A later start used the ids that a clean close had stored.
    let used = |id: &i64| seen.contains(id);
    assert!((1..1_000_000).any(|id| id % 10 == 6 && used(&id)), "no rest was ever used");
}

#[test]
fn a_process_that_is_killed_right_after_its_start_has_used_up_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let mut seen = BTreeSet::new();
    let mut rests = 0;
    for _ in 0..3 {
        for killed in [false, true, true] {
            let mut child = start(dir.path());
            let rest = ids(&mut child, Some(STARTED));
            rests += u32::from(!rest.is_empty());
            if killed {
                child.kill().unwrap();
            }
            let later = ids(&mut child, None);
            child.wait().unwrap();
            for id in rest.into_iter().chain(later) {
                assert!(seen.insert(id), "{id} twice");
            }
        }
    }
    assert!(rests >= 2, "{rests} rests were used");
}
