//! Fetches from the counters of `file:DIR` as a host carries out their steps: each id is given once, whatever was lost,
//! damaged or restored.

use leafid_core::call::{CallId, FileAction, IoFailure, Level, SharedFailure};
use leafid_core::format::counter::{Counter, MOST_STEP, Marker};
use leafid_core::format::shared;
use leafid_core::format::two_slots::{SLOT_BYTES, new_file};
use leafid_core::options::FileTag;
use leafid_core::supply::counter_update::{
    CounterDirectory, CounterInput, CounterStep, CounterUpdate, CounterUpdated, MARKER, NamedCounter,
    counter_file_name,
};
use leafid_core::{Code, Fetched, Result, Segment};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

fn directory() -> Arc<CounterDirectory> {
    Arc::new(CounterDirectory {
        path: "/c".into(),
        name: "file:/c".into(),
        id: "d".into(),
        created: "then".into(),
    })
}

fn named(start: i64, step: i64) -> Option<NamedCounter> {
    Some(NamedCounter { start, step, told: false })
}

fn fetch(step: i64, after: i64) -> CounterUpdate {
    CounterUpdate::new(CallId(1), directory(), "order".into(), step, after, None)
}

fn fetch_or_make(step: i64, after: i64) -> CounterUpdate {
    CounterUpdate::new(CallId(1), directory(), "order".into(), step, after, named(1, 100))
}

/// The files of a directory, and the steps that fail.
#[derive(Clone, Default)]
struct Files {
    files: BTreeMap<String, Vec<u8>>,
    /// What was written, in order.
    writes: Vec<String>,
    names: usize,
    /// The number of the step that fails.
    fails_at: Option<usize>,
    /// Files whose reading fails.
    unreadable: Vec<String>,
    /// Whether a write is not carried out, and reported all the same.
    loses_writes: bool,
}

impl Files {
    /// A directory that was made, without counters.
    fn made() -> Files {
        let marker = Marker { id: "d".into(), created: "then".into(), counters: 0 };
        let bytes = new_file(|number| shared::seal(number, &marker)).unwrap();
        Files { files: [(MARKER.to_owned(), bytes.to_vec())].into(), ..Files::default() }
    }

    /// A directory with one counter that gave 1 to 100.
    fn used() -> Files {
        let mut files = Files::made();
        assert_eq!(files.ids(fetch_or_make(0, 0)), Ok((1, 101)));
        assert_eq!(files.names, 2, "the names of the marker and of the counter are durable too");
        (files.writes, files.names) = (Vec::new(), 0);
        files
    }

    fn fetch(&mut self, mut update: CounterUpdate) -> CounterUpdated {
        let failure = SharedFailure::Io(FileAction::Read, IoFailure::other("it is broken"));
        let (mut step, mut count) = (update.step(CounterInput::Begin, ""), 0);
        loop {
            let path = |name: &str| format!("/c/{name}");
            count += 1;
            let fails = self.fails_at == Some(count);
            step = match step {
                CounterStep::Done => return update.end(),
                _ if fails => update.step(CounterInput::Failed(&failure), "/c/f"),
                CounterStep::Peek(name) | CounterStep::Open(name, None) => {
                    match self.unreadable.contains(&name) {
                        true => update.step(CounterInput::Failed(&failure), path(&name)),
                        false => {
                            let found = self.files.get(&name).map(Vec::as_slice);
                            update.step(CounterInput::Read(found), path(&name))
                        }
                    }
                }
                CounterStep::Open(name, Some(initial)) => {
                    let found = self.files.entry(name.clone()).or_insert_with(|| initial.to_vec());
                    update.step(CounterInput::Read(Some(found)), path(&name))
                }
                CounterStep::List => {
                    let names: Vec<String> = self.files.keys().cloned().collect();
                    update.step(CounterInput::Names(&names), "/c")
                }
                CounterStep::Write { name, offset, bytes, syncs_name } => {
                    let file = self.files.get_mut(&name).unwrap();
                    if !self.loses_writes {
                        file[offset..offset + SLOT_BYTES].copy_from_slice(&bytes[..]);
                    }
                    self.names += usize::from(syncs_name);
                    self.writes.push(name.clone());
                    update.step(CounterInput::Read(Some(file)), path(&name))
                }
            };
        }
    }

    fn ids(&mut self, update: CounterUpdate) -> Result<(i64, i64)> {
        self.fetch(update).into_result().map(|Fetched { segment, .. }| (segment.start(), segment.end()))
    }

    fn code(&mut self, update: CounterUpdate) -> Code {
        self.ids(update).unwrap_err().code()
    }

    fn counter(&self) -> Counter {
        shared::read::<Counter>("f", &self.files[&counter_file_name("order")]).unwrap().0.content
    }

    fn damage(&mut self, slot: usize) {
        self.files.get_mut(&counter_file_name("order")).unwrap()[slot * SLOT_BYTES + 30] ^= 1;
    }

    /// The slot of the counter that was written last.
    fn newest_slot(&self) -> usize {
        let number = |slot: usize| {
            let bytes = &self.files[&counter_file_name("order")][slot * SLOT_BYTES..][..SLOT_BYTES];
            serde_json::from_slice::<serde_json::Value>(bytes).unwrap()["number"].as_u64()
        };
        usize::from(number(1) > number(0))
    }
}

#[test]
fn a_counter_below_what_was_given_is_raised() {
    let mut files = Files::used();
    let updated = files.fetch(fetch(10, 5_001));
    let text = "/c/tag-order.counter stood at 101, and ids below 5001 were given before: it was raised, as \
                after a restore";
    assert_eq!(updated.notes(), [(Level::Warn, text.to_owned())]);
    assert_eq!(updated.into_result().unwrap().segment, Segment::new(5_001, 5_011, 1).unwrap());
    assert_eq!(files.writes.len(), 2, "once raised, once above the ids");
    assert_eq!(files.ids(fetch(10, 100)), Ok((5_011, 5_021)));
}

#[test]
fn a_counter_is_made_by_hand_and_raised_but_never_lowered() {
    let by_hand = |files: &mut Files, start, step, given| {
        let new = FileTag { start, step };
        let update = CounterUpdate::by_hand(directory(), "order".into(), new, given);
        let counter = files.fetch(update).into_counter().unwrap();
        assert_eq!((counter.next(), counter.step), (files.counter().next(), files.counter().step));
        (counter.next(), counter.step)
    };
    let mut files = Files::made();
    assert_eq!(by_hand(&mut files, 7, 10, None), (7, 10));
    assert_eq!(files.writes.iter().filter(|name| *name == MARKER).count(), 1, "it is counted");
    assert_eq!(by_hand(&mut files, 1, 50, None), (7, 10), "what is not given stays");
    let high = 2 * MOST_STEP;
    assert_eq!(by_hand(&mut files, high, 50, Some(50)), (high, 50));
    // In both slots.
    files.damage(files.newest_slot());
    assert!(files.ids(fetch(10, 0)).unwrap().0 >= high);
    // Also where another counter is missing, which a fetch refuses.
    files.files.remove(&counter_file_name("order"));
    assert_eq!(files.code(fetch_or_make(0, 0)), Code::StateCorrupt);
    assert_eq!(by_hand(&mut files, 9_000, 10, None), (9_000, 10));
}

#[test]
fn what_a_damaged_slot_may_have_given_is_left_out() {
    let mut files = Files::used();
    files.ids(fetch(50, 0)).unwrap();
    files.damage(files.newest_slot());
    let updated = files.fetch(fetch(10, 0));
    let text = format!(
        "one slot of /c/tag-order.counter is damaged, and may have held a later fetch: ids 101 to {} are left out",
        101 + MOST_STEP
    );
    assert_eq!(updated.notes(), [(Level::Warn, text)]);
    let segment = updated.into_result().unwrap().segment;
    assert_eq!(segment.start(), 101 + MOST_STEP);
    // Both slots are above: if the newer one is damaged too, the older one skips from there.
    files.damage(files.newest_slot());
    assert!(files.ids(fetch(10, 0)).unwrap().0 >= segment.end());
}

#[test]
fn a_torn_write_is_a_gap() {
    let mut files = Files::used();
    let mut update = fetch(50, 0);
    let before = files.files.clone();
    let mut step = update.step(CounterInput::Begin, "");
    step = match step {
        CounterStep::Peek(name) => update.step(CounterInput::Read(Some(&before[&name])), "m"),
        other => panic!("{other:?}"),
    };
    step = match step {
        CounterStep::Open(name, None) => update.step(CounterInput::Read(Some(&before[&name])), "c"),
        other => panic!("{other:?}"),
    };
    let CounterStep::Write { name, offset, bytes, .. } = step else { panic!("{step:?}") };
    let file = files.files.get_mut(&name).unwrap();
    file[offset..offset + 100].copy_from_slice(&bytes[..100]);
    // The write was not seen.
    assert_eq!(update.end().into_result().unwrap_err().code(), Code::Internal);
    assert_eq!(files.ids(fetch(10, 0)), Ok((101 + MOST_STEP, 111 + MOST_STEP)));
}

#[test]
fn no_id_is_given_that_was_not_written() {
    let mut files = Files { loses_writes: true, ..Files::used() };
    let error = files.ids(fetch(10, 0)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "internal: /c/tag-order.counter was reported as written, and holds something else; report this"
    );
    let mut made = Files { loses_writes: true, ..Files::made() };
    let error = made.ids(fetch_or_make(10, 0)).unwrap_err();
    assert!(
        error.message().starts_with("/c/leafid-file.marker was reported as written, and holds"),
        "{error}"
    );
    assert_eq!(fetch(10, 0).end().into_result().unwrap_err().code(), Code::Internal);
    let mut wrong = fetch(10, 0);
    wrong.step(CounterInput::Begin, "");
    assert_eq!(wrong.step(CounterInput::Names(&[]), ""), CounterStep::Done);
    assert_eq!(wrong.end().into_result().unwrap_err().code(), Code::Internal);
}

#[test]
fn whatever_step_fails_nothing_is_given_twice() {
    for fails_at in 1..=10 {
        let mut files = Files { fails_at: Some(fails_at), ..Files::made() };
        let first = files.ids(fetch_or_make(10, 0));
        files.fails_at = None;
        let second = files.ids(fetch_or_make(10, 0)).unwrap();
        match first {
            Ok(first) => assert!(fails_at == 10 && first.1 == second.0, "there are nine steps: {fails_at}"),
            Err(error) => {
                let text =
                    "cannot read /c/f: it is broken; see that the directory is there and the disk works";
                assert_eq!(error.message(), text);
            }
        }
        assert!(files.counter().next() >= second.1);
    }
}

#[test]
fn a_directory_without_its_marker_or_with_another_s_is_refused() {
    let mut files = Files::used();
    let marker = files.files.remove(MARKER).unwrap();
    let error = files.ids(fetch_or_make(0, 0)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown_tag: /c is not a directory of leafid counters: it has no leafid-file.marker; see that its disk is \
         mounted, or, for a new one: leafid file create /c"
    );
    let other = Marker { id: "e".into(), created: "now".into(), counters: 0 };
    let other = new_file(|number| shared::seal(number, &other)).unwrap();
    files.files.insert(MARKER.into(), other.to_vec());
    assert_eq!(
        files.ids(fetch_or_make(0, 0)).unwrap_err().to_string(),
        "state_mismatch: /c is another directory than the one that was opened: file:e, made now, in the place of \
         file:/c, made then; close and open again if that is meant"
    );
    files.files.insert(MARKER.into(), marker);
    assert_eq!(files.ids(fetch(0, 0)), Ok((101, 201)));
    assert!(files.writes.iter().all(|name| name != MARKER));
}

#[test]
fn a_lost_counter_does_not_begin_again() {
    let mut files = Files::used();
    let lost = files.files.remove(&counter_file_name("order")).unwrap();
    // Other files are not counters, whatever their names.
    files
        .files
        .extend(["tag-order.counter.old", "old-order.counter"].map(|name| (name.into(), lost.clone())));
    let error = files.ids(fetch_or_make(0, 0)).unwrap_err();
    assert_eq!(error.code(), Code::StateCorrupt);
    let text = "/c/tag-order.counter is missing, or another counter of its directory is, which has 0 of the 1 that \
                were made there: \"order\" may be one that was lost; nothing was changed. Put it back";
    assert!(error.message().starts_with(text), "{error}");
    assert!(files.writes.is_empty() && files.files.len() == 3);
    // A process that was killed between the counter and the marker made one more than are counted.
    let mut killed = Files::made();
    killed.fails_at = Some(7);
    killed.ids(fetch_or_make(0, 0)).unwrap_err();
    assert!(killed.files.len() == 2 && killed.writes.is_empty());
    killed.fails_at = None;
    assert_eq!(killed.ids(fetch_or_make(0, 0)), Ok((1, 101)));
}

#[test]
fn the_counter_of_another_tag_or_directory_is_refused() {
    let mut files = Files::used();
    let name = counter_file_name("order");
    for counter in [Counter::new("d".into(), "invoice", 1, 10), Counter::new("e".into(), "order", 1, 10)] {
        let bytes = new_file(|number| shared::seal(number, &counter)).unwrap();
        files.files.insert(name.clone(), bytes.to_vec());
        assert_eq!(files.code(fetch(0, 0)), Code::StateCorrupt);
        assert_eq!(files.code(fetch_or_make(0, 0)), Code::StateCorrupt);
        assert_eq!(files.files[&name], bytes);
    }
}

#[test]
fn a_tag_without_a_counter_is_unknown_and_the_others_are_named() {
    let unknown = |files: &mut Files| files.ids(fetch(0, 0)).unwrap_err().to_string();
    let text = |known: &str| {
        format!(
            "unknown_tag: /c has no counter of the tag \"order\"; {known}. Name it in tags, or make it by: leafid file \
             create /c --tag order"
        )
    };
    assert_eq!(unknown(&mut Files::made()), text("it has none"));
    let mut files = Files::made();
    for tag in ["b", "a", "c"] {
        let update = CounterUpdate::new(CallId(1), directory(), tag.into(), 0, 0, named(1, 100));
        files.ids(update).unwrap();
    }
    files.files.insert("tag-broken.counter".into(), vec![0; 9]);
    let foreign = Counter::new("e".into(), "foreign", 1, 10);
    let foreign = new_file(|number| shared::seal(number, &foreign)).unwrap();
    files.files.insert(counter_file_name("foreign"), foreign.to_vec());
    files.unreadable.push(counter_file_name("c"));
    assert_eq!(unknown(&mut files), text("it has \"a\", \"b\""));
    for n in 0..12 {
        let tag = format!("t{n:02}");
        let bytes = new_file(|number| shared::seal(number, &Counter::new("d".into(), &tag, 1, 1))).unwrap();
        files.files.insert(counter_file_name(&tag), bytes.to_vec());
    }
    assert!(unknown(&mut files).contains(
        "\"a\", \"b\", \"t00\", \"t01\", \"t02\", \"t03\", \"t04\", \"t05\", \"t06\", \"t07\" and 4 more"
    ));
    files.fails_at = Some(3);
    let listed = "its counters cannot be listed (state_io: cannot read /c/f: it is broken; see that the directory is \
                  there and the disk works)";
    assert_eq!(unknown(&mut files), text(listed));
}

#[test]
fn a_named_step_is_written_once_and_a_used_up_counter_gives_nothing() {
    let mut files = Files::used();
    let of = |named| CounterUpdate::new(CallId(1), directory(), "order".into(), 0, 0, named);
    assert_eq!(files.ids(of(named(1, 7))), Ok((101, 108)));
    // Another process wrote its step since.
    assert_eq!(files.ids(of(named(1, 9))), Ok((108, 117)));
    assert_eq!(files.ids(of(Some(NamedCounter { start: 1, step: 7, told: true }))), Ok((117, 126)));
    assert_eq!(files.ids(fetch(i64::MAX, 0)), Ok((126, 126 + MOST_STEP)));
    assert_eq!(files.ids(fetch(5, i64::MAX - 2)), Ok((i64::MAX - 2, i64::MAX)));
    let error = files.ids(fetch(5, 0)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "segment_unavailable: /c/tag-order.counter is used up: it stands at 9223372036854775807, the end of all ids; \
         use another tag"
    );
}

/// The files of 0.1.0: tests/vectors/earlier_files/README.md.
#[test]
fn counters_of_an_earlier_version_go_on() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors/earlier_files/counters"));
    let mut files = Files::default();
    for name in [MARKER.to_owned(), counter_file_name("order"), counter_file_name("invoice")] {
        files.files.insert(name.clone(), std::fs::read(folder.join(name)).unwrap());
    }
    let id = "525044ccbf415c5f401294427c8003f9";
    let directory = Arc::new(CounterDirectory { id: id.into(), ..(*directory()).clone() });
    for (tag, ids) in [("order", (451, 551)), ("invoice", (5_010, 5_020))] {
        let update = CounterUpdate::new(CallId(1), Arc::clone(&directory), tag.into(), 0, 0, None);
        assert_eq!(files.ids(update), Ok(ids));
    }
}
