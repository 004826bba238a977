//! Tests with several real processes on one directory of counters and one state directory. Some of them are killed.

use super::*;
use crate::programs::this_program;
use crate::segments::high_water::tests::of_source::MarksOfSource;
use leafid_core::Segment;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

const DIRECTORY: &str = "LEAFID_TEST_DIRECTORY";
/// The prefix of a line that a child prints for a range that it may use from then on.
const HAS: &str = "has ";
/// The line that a child prints when it has read the unused ids.
const STARTED: &str = "started";
/// How many ranges each child that is not killed has taken at least.
const RANGES: usize = 12;
/// How many rounds may go by until unused ids are found again: a process may be killed before it says that it took them.
const ROUNDS: u64 = 100;

/// The code of the child processes: this test in its own process, until its input ends. Without its variable it does
/// nothing.
#[test]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let directory = Path::new(&directory);
    let source = in_turn(|| open(&directory.join("counters"), true, &[("order", ORDER)]));
    let env = Arc::new(Env::dated(0));
    let marks = MarksOfSource::new(
        env,
        Some(&directory.join("state")),
        &source.source_name(),
        leafid_core::IdOrder::Ascending,
        false,
    )
    .unwrap()
    .on_machine("this one");
    let says = |segment: &Segment| println!("\n{HAS}{} {}", segment.start(), segment.end());
    in_turn(|| marks.take_unused("order")).iter().for_each(says);
    println!("\n{STARTED}");
    let input = std::thread::spawn(|| std::io::stdin().read_line(&mut String::new()));
    let mut kept = None;
    while kept.is_none() || !input.is_finished() {
        let after = marks.after("order").unwrap();
        let fetched = in_turn(|| source.fetch("order", 10, after, false));
        in_turn(|| marks.accept("order", &[fetched.segment], after));
        // Half of each range is used, and half of the last one is stored for the next start.
        let (start, end) = (fetched.segment.start(), fetched.segment.end());
        says(&Segment::new(start, start + 5, 1).unwrap());
        kept = Some(Segment::new(start + 5, end, 1).unwrap());
    }
    in_turn(|| marks.keep_unused("order", kept.as_slice()));
}

/// A child, and what it prints: the ranges that it may use, and an empty one when it has started. The last line of a
/// killed child may be incomplete.
struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Running {
    fn start(directory: &Path) -> Running {
        let mut child = this_program()
            .args([
                "--exact",
                &format!("{}::child", module_path!().trim_start_matches("leafid::")),
                "--nocapture",
            ])
            .env(DIRECTORY, directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Running { child, lines }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    /// What is left to read of a child that was killed or now gets its end, and whether it ended well.
    fn end(mut self) -> (Vec<i64>, bool) {
        drop(self.child.stdin.take());
        let ids = self.by_ref().flatten().collect();
        (ids, self.child.wait().unwrap().success())
    }
}

impl Iterator for Running {
    type Item = Range<i64>;

    fn next(&mut self) -> Option<Range<i64>> {
        let mut line = String::new();
        while self.lines.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') {
            let said = line.trim_end();
            if said == STARTED {
                return Some(0..0);
            }
            if let Some((start, end)) = said.strip_prefix(HAS).and_then(|range| range.split_once(' ')) {
                return Some(start.parse().unwrap()..end.parse().unwrap());
            }
            line.clear();
        }
        None
    }
}

#[test]
fn processes_that_start_at_once_and_are_killed_share_no_id() {
    let dir = tempfile::tempdir().unwrap();
    let mut seen = BTreeSet::new();
    // Until a later start used the ids that a clean close had stored.
    let found = |seen: &BTreeSet<i64>| seen.iter().any(|id| id % 10 == 6);
    let mut round = 0;
    while round < 4 || !found(&seen) {
        assert!(round < ROUNDS, "no rest was ever used");
        let mut children: Vec<Running> = (0..4).map(|_| Running::start(dir.path())).collect();
        // Some children are killed right after their start, some during their fetches.
        let prints = [RANGES + 1, RANGES + 1, round as usize, 5 * round as usize + 3];
        let mut ids = Vec::new();
        for (number, child) in children.iter_mut().enumerate().rev() {
            ids.extend(child.by_ref().take(prints[number]).flatten());
            if number >= 2 {
                std::thread::sleep(Duration::from_millis(round % 4));
                child.kill();
            }
        }
        for (number, child) in children.into_iter().enumerate() {
            let (later, well) = child.end();
            assert!(well || number >= 2);
            ids.extend(later);
        }
        for id in ids {
            assert!(seen.insert(id), "round {round}: {id} twice");
        }
        round += 1;
    }
}

#[test]
fn a_process_that_is_killed_right_after_its_start_has_used_up_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let mut seen = BTreeSet::new();
    for _ in 0..2 {
        for (killed, finds) in [(false, false), (true, true), (true, false)] {
            let mut child = Running::start(dir.path());
            let rest: Vec<i64> = child.by_ref().take_while(|range| !range.is_empty()).flatten().collect();
            assert_eq!(!rest.is_empty(), finds, "{rest:?}");
            if killed {
                child.kill();
            }
            let (later, well) = child.end();
            assert!(well || killed);
            for id in rest.into_iter().chain(later) {
                assert!(seen.insert(id), "{id} twice");
            }
        }
    }
}
