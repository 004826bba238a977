//! The record of a worker id as its holder reads and writes it: which slot, what must be there before, and what a
//! failed write leaves.

use leafid_core::call::{FileAction, FileAdvice, IoFailure, IoKind};
use leafid_core::format::state::{self, SlotPair, StoredRecord, Writer};
use leafid_core::format::two_slots::{FILE_BYTES, SLOT_BYTES};
use leafid_core::run::record_file::RecordFile;
use leafid_core::run::record_open::{RecordOpen, RecordPeek, record_file_name, recorded_ids};
use leafid_core::run::record_write::{RecordWrite, RecordWritten};
use leafid_core::{Code, Layout, Record, Result, Rules, Span};
use std::path::Path;

const PATH: &str = "/state/worker-7.state";
const NOW_MS: i64 = 1_800_000_000_000;

fn open() -> RecordOpen {
    RecordOpen::new("shop", 7, Layout::LEAF, FileAdvice::StateDir)
}

fn writer() -> Writer {
    Writer { pid: 1, host: "h".into(), started: "s".into(), boot: "b".into(), counted_ms: 5, leap_ms: None }
}

/// The bytes of one file, and whether it is still the one at its path.
struct Disk {
    bytes: Vec<u8>,
    in_place: bool,
    /// How often its name was made durable.
    names: usize,
}

impl Disk {
    fn new() -> Disk {
        Disk { bytes: open().initial().unwrap().to_vec(), in_place: true, names: 0 }
    }

    fn opened(&self) -> Result<(RecordFile, Option<String>)> {
        let found = open().read(&self.bytes, PATH).into_result()?.unwrap();
        Ok(found.into_file(&Rules::default(), NOW_MS))
    }

    fn open(&self) -> RecordFile {
        let (file, warning) = self.opened().unwrap();
        assert_eq!(warning, None);
        file
    }

    /// Carries out a write as a host does.
    fn carry_out(&mut self, mut write: RecordWrite) -> RecordWritten {
        let ended = self.put(&mut write, SLOT_BYTES);
        write.end(ended)
    }

    /// Writes the first `count` bytes of a slot.
    fn put(&mut self, write: &mut RecordWrite, count: usize) -> Result<()> {
        write.check(self.in_place.then_some(&self.bytes))?;
        let bytes = write.bytes(1)?;
        self.bytes[write.offset()..][..count].copy_from_slice(&bytes[..count]);
        self.names += usize::from(write.syncs_name());
        Ok(())
    }

    fn numbers(&self) -> [Option<u64>; 2] {
        [0, 1].map(|slot| state::read_slot(&self.bytes, slot).map(|stored| stored.number))
    }

    fn newest(&self) -> StoredRecord {
        state::read_file(PATH, &self.bytes).unwrap().newest
    }
}

fn begun(record: &Record, owner: u128) -> Record {
    let from = Layout::LEAF.tick_at(NOW_MS).unwrap().max(record.run.until);
    record.begin(Span { from, until: from + 500 }, NOW_MS, owner)
}

fn extended(record: &Record) -> Record {
    record.extend(Span { from: record.run.until, until: record.run.until + 500 }, NOW_MS)
}

fn ask(file: &mut RecordFile, record: Record) -> RecordWrite {
    file.write(record, writer()).unwrap()
}

fn begin(file: &mut RecordFile, owner: u128) -> RecordWrite {
    let record = begun(file.record(), owner);
    ask(file, record)
}

fn extend(file: &mut RecordFile) -> RecordWrite {
    let record = extended(file.record());
    ask(file, record)
}

/// A file with a run of this owner's.
fn running(owner: u128) -> (Disk, RecordFile) {
    let mut disk = Disk::new();
    let mut file = disk.open();
    let write = begin(&mut file, owner);
    file.written(disk.carry_out(write)).unwrap();
    (disk, file)
}

fn failure() -> IoFailure {
    IoFailure::other("it is broken (os error 5)")
}

#[test]
fn each_write_replaces_the_older_slot_with_a_higher_number() {
    let (mut disk, mut file) = running(1);
    assert_eq!(disk.numbers(), [Some(2), Some(1)]);
    for numbers in [[2, 3], [4, 3], [4, 5]] {
        let write = extend(&mut file);
        file.written(disk.carry_out(write)).unwrap();
        assert_eq!(disk.numbers(), numbers.map(Some));
        assert_eq!(disk.newest().record, *file.record());
    }
}

#[test]
fn a_lost_newest_slot_is_bridged_by_the_record_before_and_the_clock() {
    let (mut disk, mut file) = running(1);
    let write = extend(&mut file);
    file.written(disk.carry_out(write)).unwrap();
    let lost = file.record().run.until;
    disk.bytes[SLOT_BYTES + 200..][..16].fill(b'#');
    let found = open().read(&disk.bytes, PATH).into_result().unwrap().unwrap();
    assert!(found.stored().record.run.until < lost, "the one before");
    let (raised, _) = found.into_file(&Rules::default(), NOW_MS);
    assert!(raised.record().run.until >= lost);
    assert_eq!(raised.record().worker_id, 7);
}

#[test]
fn a_file_that_another_run_wrote_is_not_written() {
    let lost =
        |what: &str| format!("{PATH} {what} while worker id 7 was in use: find out what changed the file");
    let (other, _) = running(2);
    let (mut later, mut its) = running(1);
    for _ in 0..2 {
        let write = extend(&mut its);
        its.written(later.carry_out(write)).unwrap();
    }
    for (name, bytes, in_place, what) in [
        ("another owner", other.bytes.clone(), true, "was overwritten"),
        ("older", open().initial().unwrap().to_vec(), true, "was overwritten"),
        ("newer than any that was tried", later.bytes.clone(), true, "was overwritten"),
        ("no record", vec![0; FILE_BYTES], true, "was overwritten"),
        ("empty", Vec::new(), true, "was overwritten"),
        ("gone", Vec::new(), false, "was deleted, moved or replaced"),
    ] {
        let (mut disk, mut file) = running(1);
        (disk.bytes, disk.in_place) = (bytes.clone(), in_place);
        let before = file.record().clone();
        let write = ask(&mut file, extended(&before));
        let error = file.written(disk.carry_out(write)).unwrap_err();
        assert_eq!((error.code(), error.message()), (Code::WorkerLost, &*lost(what)), "{name}");
        assert!(disk.bytes == bytes && *file.record() == before, "{name}");
    }
}

#[test]
fn success_without_the_check_or_without_the_bytes_is_no_success() {
    let (disk, mut file) = running(1);
    let before = file.record().clone();
    let unchecked = |mut write: RecordWrite| {
        write.bytes(1).unwrap();
        write.end(Ok(()))
    };
    let unwritten = |mut write: RecordWrite| {
        write.check(Some(&disk.bytes)).unwrap();
        write.end(Ok(()))
    };
    let refused = |mut write: RecordWrite| {
        write.check(None).unwrap_err();
        write.bytes(1).unwrap();
        write.end(Ok(()))
    };
    for carried_out in [&unchecked as &dyn Fn(RecordWrite) -> RecordWritten, &unwritten, &refused] {
        let write = ask(&mut file, extended(&before));
        assert_eq!(file.written(carried_out(write)).unwrap_err().code(), Code::Internal);
        assert_eq!(*file.record(), before);
    }
}

#[test]
fn the_name_of_a_new_file_is_durable_before_its_first_run() {
    let mut disk = Disk::new();
    let mut file = disk.open();
    let write = begin(&mut file, 1);
    assert!(write.syncs_name());
    let error = file.written(write.failed(FileAction::SyncName, &failure())).unwrap_err();
    assert!(
        error.message().starts_with("cannot make durable the name of /state/worker-7.state: it is"),
        "{error}"
    );
    for names in [1, 1] {
        let write = begin(&mut file, 1);
        file.written(disk.carry_out(write)).unwrap();
        assert_eq!(disk.names, names, "with the first write that succeeds, and no other");
    }
}

/// Its owner is in the file, and this run does not know whether.
#[test]
fn after_a_failed_first_write_a_run_opens_the_file_again() {
    let mut disk = Disk::new();
    let mut file = disk.open();
    let mut write = begin(&mut file, 1);
    disk.put(&mut write, SLOT_BYTES).unwrap();
    file.written(write.failed(FileAction::Write, &failure())).unwrap_err();
    let write = begin(&mut file, 2);
    assert_eq!(file.written(disk.carry_out(write)).unwrap_err().code(), Code::WorkerLost);
    let mut file = disk.open();
    let write = begin(&mut file, 2);
    file.written(disk.carry_out(write)).unwrap();
}

#[test]
fn a_record_of_another_worker_id_or_id_space_or_layout_is_refused() {
    let of = |name: &str, worker_id, layout| {
        RecordOpen::new(name, worker_id, layout, FileAdvice::StateDir).initial().unwrap()
    };
    let error = |bytes: &[u8]| open().read(bytes, PATH).into_result().unwrap_err().to_string();
    assert_eq!(
        error(&of("shop", 8, Layout::LEAF)),
        "state_corrupt: /state/worker-7.state is the record of worker id 8 of \"shop\", not of 7 of \"shop\": it was \
         moved or copied here; nothing was changed, put it back"
    );
    assert!(error(&of("ship", 7, Layout::LEAF)).contains("worker id 7 of \"ship\", not of 7 of \"shop\""));
    assert_eq!(
        error(&of("shop", 7, Layout::SONYFLAKE)),
        format!(
            "state_mismatch: /state/worker-7.state has the layout {} with epoch_ms {} and tick_ms 10, not {} with \
             epoch_ms {} and tick_ms 1; use the layout it has, or another name",
            Layout::SONYFLAKE,
            Layout::SONYFLAKE.epoch_ms(),
            Layout::LEAF,
            Layout::LEAF.epoch_ms()
        )
    );
    assert!(
        error(&[0; FILE_BYTES]).starts_with("state_corrupt: /state/worker-7.state is damaged in both slots")
    );
}

#[test]
fn a_record_that_no_rules_write_is_refused() {
    let mut stored = Disk::new().newest();
    stored.record.skipped = vec![Span { from: 9, until: 10 }, Span { from: 1, until: 2 }];
    let slots = SlotPair { newest: stored, spare: 0, damaged: false };
    let error = open().read_slots(slots.clone(), PATH).into_result().unwrap_err();
    assert_eq!(error.code(), Code::StateCorrupt);
    assert!(
        error.message().starts_with("/state/worker-7.state: the record of worker id 7 is not as"),
        "{error}"
    );
    let opened = open().of_any_values().read_slots(slots, PATH).into_result();
    assert!(opened.unwrap().is_some(), "to be reset");
}

#[test]
fn a_peek_sees_the_newest_record_of_this_layout() {
    let (disk, file) = running(1);
    let peek = || RecordPeek::new(7, Layout::LEAF, FileAdvice::StateDir);
    let seen = peek().read(&disk.bytes, PATH).into_result().unwrap().unwrap();
    assert_eq!(seen.record, *file.record());
    assert_eq!(seen.holder().as_deref(), Some("pid 1 on host h, started s"));
    assert_eq!(seen.writer_since("b"), Some(&writer()));
    assert_eq!((seen.writer_since(""), seen.writer_since("c")), (None, None));
    assert_eq!(peek().missing().into_result(), Ok(None));
    let other = RecordPeek::new(7, Layout::SONYFLAKE, FileAdvice::StateDir).read(&disk.bytes, PATH);
    assert_eq!(other.into_result().unwrap_err().code(), Code::StateMismatch);
    let unused = peek().read(&Disk::new().bytes, PATH).into_result().unwrap().unwrap();
    assert_eq!(unused.holder(), None);
}

#[test]
fn only_the_names_that_records_have_are_records() {
    let names =
        ["worker-12.state", "worker-7.state", "worker-007.state", "worker-7.lease", "worker-.state", "x"];
    assert_eq!(recorded_ids(names.into_iter()), [7, 12]);
}

#[test]
fn a_failure_says_what_can_be_done_where_the_files_are() {
    let of = |kind, advice| {
        let failure = IoFailure { kind, text: "no".into(), user: "user 1 and group 2".into() };
        failure.of_file(FileAction::Make, "/d", advice).to_string()
    };
    for (kind, advice, text) in [
        (
            IoKind::Denied,
            FileAdvice::StateDir,
            "this process runs as user 1 and group 2: let that user read and write there, open after privileges are \
             given up, or set state_dir to one that it can write",
        ),
        (
            IoKind::Denied,
            FileAdvice::Counters,
            "this process runs as user 1 and group 2: let that user read and write there, open after privileges are \
             given up, or use a directory that it can write",
        ),
        (IoKind::ReadOnly, FileAdvice::StateDir, "set state_dir to a directory that this user can write"),
        (IoKind::ReadOnly, FileAdvice::Counters, "let this user write there"),
        (IoKind::Full, FileAdvice::StateDir, "free some space there, or set state_dir elsewhere"),
        (IoKind::Full, FileAdvice::Counters, "free some space there"),
        (IoKind::Full, FileAdvice::Store, "free some space there"),
        (
            IoKind::Other,
            FileAdvice::StateDir,
            "see that the directory is there and the disk works, or set state_dir elsewhere",
        ),
        (IoKind::Other, FileAdvice::Counters, "see that the directory is there and the disk works"),
        (IoKind::Denied, FileAdvice::Store, "see that the place is there and can be written"),
    ] {
        assert_eq!(of(kind, advice), format!("state_io: cannot make /d: no; {text}"));
    }
    let source = |kind| IoFailure { kind, ..failure() }.of_worker_source().to_string();
    assert_eq!(
        source(IoKind::TooManyStuck),
        "worker_lost: 16 user callbacks hang in this process; see what they wait for, and restart it"
    );
    assert_eq!(
        source(IoKind::NoThread),
        "state_io: the system cannot start a thread to call the source of worker ids (it is broken (os error 5)); see \
         its limits. A child of _Fork or a raw clone can use no such source"
    );
}

/// The files of 0.1.0: tests/vectors/earlier_files/README.md.
#[test]
fn records_of_an_earlier_version_are_opened_and_go_on() {
    for (name, worker_id, layout, damaged) in [
        ("earlier", 3, Layout::LEAF, false),
        ("earlier", 4, Layout::LEAF, false),
        ("earlier-yitter", 5, Layout::YITTER, false),
        ("earlier-leased", 0, Layout::LEAF, false),
        ("earlier-damaged", 6, Layout::LEAF, true),
    ] {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors/earlier_files/state");
        let path = Path::new(folder).join(name).join(record_file_name(worker_id));
        let mut disk = Disk { bytes: std::fs::read(path).unwrap(), ..Disk::new() };
        let open = RecordOpen::new(name, worker_id, layout, FileAdvice::StateDir);
        let found = open.read(&disk.bytes, PATH).into_result().unwrap().unwrap();
        let until = found.stored().record.run.until;
        let (mut file, warning) = found.into_file(&Rules::default(), NOW_MS);
        assert_eq!(warning.is_some(), damaged, "{worker_id}");
        assert!(file.record().run.until >= until, "{worker_id}");
        let record = file.record();
        let from = record.first_free(record.run.until);
        let record = record.begin(Span { from, until: from + 500 }, NOW_MS, 1);
        let write = ask(&mut file, record.clone());
        assert!(!write.syncs_name(), "it was written before");
        file.written(disk.carry_out(write)).unwrap();
        assert_eq!(disk.newest().record, record, "{worker_id}");
    }
}
