//! What follows from the place where a process runs.

use crate::common::{NOW_MS as NOW, PLAIN};
use leafid_core::call::{Clocks, FileAdvice};
use leafid_core::options::deployment::{
    FileSystem, FilesystemKind, LOCAL_STATE, Scope, check_counters, refuse_network, surroundings,
};
use leafid_core::options::{ChosenBy, WorkerRange};
use leafid_core::place::{FilesAt, Place, PlaceFacts, PlaceSettings, machine_start};
use leafid_core::{ClockFilter, Code, Error, Layout, OnClockBackwards, OnExhausted, Rules};
use std::sync::Arc;
use std::time::Duration;

const CLOCKS: Clocks = Clocks { wall_ms: NOW, boot: Duration::from_secs(1_000) };
const ONE: WorkerRange = WorkerRange { first: 7, last: 7, chosen_by: ChosenBy::User };
const RANGE: WorkerRange = WorkerRange { first: 0, last: 31, chosen_by: ChosenBy::User };
const OPTIONS: PlaceSettings<'static> = PlaceSettings {
    layout: &Layout::LEAF,
    rules: &PLAIN,
    workers: Some(&ONE),
    leases: false,
    shared_fs: false,
    exclusive_range: false,
    no_record_wait_ms: 0,
};

fn directory_on(kind: FilesystemKind, name: &str) -> FilesAt {
    let fs = FileSystem { name: name.into(), kind };
    FilesAt::Directory { path: "/data".into(), named: true, fs, left_root: false }
}

fn facts_of(files: FilesAt) -> PlaceFacts {
    PlaceFacts {
        clock: Arc::new(ClockFilter::new()),
        built_ms: NOW - 86_400_000,
        pid: 42,
        started_ms: Some(NOW - 1_000),
        host: "orders-7".into(),
        boot: "b00t".into(),
        surroundings: None,
        scope: Scope::Host,
        inherited: None,
        files,
    }
}

fn on_disk() -> PlaceFacts {
    facts_of(directory_on(FilesystemKind::Local, "ext4"))
}

fn on_tmpfs() -> PlaceFacts {
    facts_of(directory_on(FilesystemKind::Ephemeral, "tmpfs"))
}

fn in_browser(may_vanish: bool) -> PlaceFacts {
    facts_of(FilesAt::Store {
        path: "IndexedDB of https://shop.example".into(),
        forgets: may_vanish,
        may_vanish,
        copies: "this is a browser, where each visitor",
        other: "profile or device",
    })
}

fn check(facts: PlaceFacts, settings: &PlaceSettings<'_>) -> Result<(Place, Vec<String>), Error> {
    Place::check(facts, settings, CLOCKS)
}

/// A place of which nothing is warned.
fn quiet(facts: PlaceFacts, settings: &PlaceSettings<'_>) -> Place {
    let (place, warnings) = check(facts, settings).unwrap();
    assert_eq!(warnings, [""; 0]);
    place
}

#[test]
fn a_disk_of_this_host_keeps_records() {
    let place = quiet(on_disk(), &PlaceSettings { no_record_wait_ms: 250, ..OPTIONS });
    assert_eq!((place.forgets, place.moves, place.no_record_wait_ms), (false, false, 250));
    assert_eq!(place.rules(PLAIN), PLAIN);
    assert_eq!((&*place.directory, place.inherited), ("/data", None));
    assert_eq!(place.advice, FileAdvice::StateDir);
    let writer = &place.writer;
    assert_eq!((writer.pid, &*writer.host, &*writer.boot), (42, "orders-7", "b00t"));
    assert_eq!(writer.started, "2023-11-14T22:13:19.000Z");
    let unknown = PlaceFacts { started_ms: None, ..on_disk() };
    assert_eq!(quiet(unknown, &OPTIONS).writer.started, "2023-11-14T22:13:20.000Z");
}

#[test]
fn a_clock_that_cannot_be_right_opens_nothing() {
    let unbuilt = PlaceFacts { built_ms: NOW + 1, ..on_disk() };
    let error = check(unbuilt, &OPTIONS).unwrap_err();
    assert_eq!(error.code(), Code::ClockBackwards);
    assert!(error.message().contains("but this leafid was built after"), "{error}");
    let before = Clocks { wall_ms: Layout::LEAF.epoch_ms() - 1, ..CLOCKS };
    assert_eq!(Place::check(on_disk(), &OPTIONS, before).unwrap_err().code(), Code::BeforeEpoch);
    let layout = &Layout::LEAF.with_epoch_ms(NOW + 1).unwrap();
    let error = check(on_disk(), &PlaceSettings { layout, ..OPTIONS }).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    let says = format!("epoch_ms is {}; allowed: ", NOW + 1);
    assert!(error.message().starts_with(&says), "{error}");
    assert!(error.message().ends_with(&format!("not ahead of the clock, which reads {NOW}")), "{error}");
}

#[test]
fn a_clock_that_has_leapt_is_looked_at_as_if_it_had_not() {
    let facts = on_disk();
    facts.clock.filter(NOW * 1_000_000, 1_000_000_000_000);
    let leapt = Clocks { wall_ms: NOW + 90_000, boot: Duration::from_secs(1_010) };
    let (_, warnings) = Place::check(facts.clone(), &OPTIONS, leapt).unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("the clock jumped 80 s ahead"), "{warnings:?}");
    let built = PlaceFacts { built_ms: NOW + 20_000, ..facts };
    assert!(Place::check(built, &OPTIONS, leapt).is_err(), "without the leap it reads less");
}

#[test]
fn a_network_s_locks_are_the_user_s_statement() {
    let nfs = || facts_of(directory_on(FilesystemKind::Network, "nfs4"));
    let error = check(nfs(), &OPTIONS).unwrap_err();
    assert_eq!(error.code(), Code::StateIo);
    assert!(error.message().starts_with("/data is on nfs4, a network file system"), "{error}");
    quiet(nfs(), &PlaceSettings { shared_fs: true, ..OPTIONS });
}

#[test]
fn a_range_is_for_processes_that_see_one_another() {
    let with = |workers| PlaceSettings { workers: Some(workers), ..OPTIONS };
    let in_kubernetes = || PlaceFacts { surroundings: Some("Kubernetes"), ..on_disk() };
    let error = check(in_kubernetes(), &with(&RANGE)).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().starts_with("worker is a range, and this runs in Kubernetes;"), "{error}");
    quiet(on_disk(), &with(&RANGE));
    quiet(in_kubernetes(), &PlaceSettings { exclusive_range: true, ..with(&RANGE) });
    quiet(in_kubernetes(), &with(&WorkerRange { chosen_by: ChosenBy::HostName, ..RANGE }));
    quiet(in_kubernetes(), &PlaceSettings { workers: None, leases: true, ..OPTIONS });
    let apart = PlaceFacts { scope: Scope::OwnNetwork, ..on_disk() };
    assert!(check(apart, &with(&RANGE)).is_err());
}

#[test]
fn local_is_for_one_machine_alone() {
    let local =
        PlaceSettings { workers: Some(&WorkerRange { chosen_by: ChosenBy::Local, ..RANGE }), ..OPTIONS };
    let (place, warnings) = check(on_disk(), &local).unwrap();
    assert!(place.one_machine);
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].starts_with("worker is \"local\": ids are unique on this machine alone;"),
        "{warnings:?}"
    );
    let stated = PlaceSettings { exclusive_range: true, ..local };
    assert!(!check(on_disk(), &stated).unwrap().0.one_machine);
    assert!(!quiet(on_disk(), &PlaceSettings { workers: Some(&RANGE), ..OPTIONS }).one_machine);
    let in_kubernetes = || PlaceFacts { surroundings: Some("Kubernetes"), ..on_disk() };
    for settings in [local, stated] {
        let error = check(in_kubernetes(), &settings).unwrap_err();
        assert!(
            error.message().starts_with("worker is \"local\", for one machine alone, and this runs in"),
            "{error}"
        );
        assert!(!error.message().contains("LEAFID_EXCLUSIVE_RANGE"), "{error}");
    }
    let apart = || PlaceFacts { scope: Scope::OwnNetwork, ..on_disk() };
    let error = check(apart(), &local).unwrap_err();
    assert!(error.message().contains("LEAFID_EXCLUSIVE_RANGE=1) only if"), "{error}");
    assert!(check(apart(), &stated).is_ok());
    let error = check(in_browser(true), &local).unwrap_err();
    assert!(error.message().starts_with("worker is \"local\", and this is a browser"), "{error}");
}

#[test]
fn a_fixed_worker_id_of_a_container_is_warned_of() {
    let in_kubernetes = || PlaceFacts { surroundings: Some("Kubernetes"), ..on_disk() };
    let (_, warnings) = check(in_kubernetes(), &OPTIONS).unwrap();
    assert!(warnings[0].starts_with("worker id 7 is fixed in Kubernetes"), "{warnings:?}");
    quiet(
        in_kubernetes(),
        &PlaceSettings { workers: Some(&WorkerRange { chosen_by: ChosenBy::HostName, ..ONE }), ..OPTIONS },
    );
}

#[test]
fn without_a_record_and_a_host_lock_a_worker_id_is_the_user_s_statement() {
    let lockless = |files| PlaceFacts { scope: Scope::NoLock, ..facts_of(files) };
    // A function may give two processes the same one.
    for settings in [OPTIONS, PlaceSettings { workers: None, ..OPTIONS }] {
        let error = check(lockless(FilesAt::Nowhere), &settings).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(
            error.message().starts_with("persist is false, and no host lock can be taken here"),
            "{error}"
        );
        quiet(lockless(FilesAt::Nowhere), &PlaceSettings { exclusive_range: true, ..settings });
    }
    quiet(lockless(FilesAt::Nowhere), &PlaceSettings { workers: None, leases: true, ..OPTIONS });
    quiet(facts_of(FilesAt::Nowhere), &OPTIONS);
    // Its record holds off those who use the same directory.
    let on_disk = || lockless(directory_on(FilesystemKind::Local, "ext4"));
    quiet(on_disk(), &OPTIONS);
    let eight = WorkerRange { chosen_by: ChosenBy::HostName, ..RANGE };
    let by_name = |workers| PlaceSettings { workers: Some(workers), ..OPTIONS };
    let error = check(on_disk(), &by_name(&eight)).unwrap_err();
    assert!(error.message().starts_with("worker is a range, and no host lock can be taken here"), "{error}");
    quiet(on_disk(), &by_name(&WorkerRange { chosen_by: ChosenBy::HostName, ..ONE }));
}

#[test]
fn a_child_has_no_worker_id_that_nothing_keeps_from_its_parent() {
    let child = |scope| PlaceFacts { scope, inherited: Some(7), ..facts_of(FilesAt::Nowhere) };
    let stated = PlaceSettings { exclusive_range: true, ..OPTIONS };
    for settings in [OPTIONS, stated, PlaceSettings { workers: None, ..stated }] {
        let error = check(child(Scope::NoLock), &settings).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.message().contains("forked from one that has worker id 7"), "{error}");
        assert!(!error.message().contains("exclusive_range"), "{error}");
        quiet(child(Scope::Unseen), &settings);
    }
    quiet(child(Scope::NoLock), &PlaceSettings { workers: None, leases: true, ..OPTIONS });
    quiet(PlaceFacts { scope: Scope::NoLock, inherited: Some(7), ..on_disk() }, &OPTIONS);
}

#[test]
fn records_that_do_not_last_forbid_ids_ahead_of_the_clock() {
    let (place, warnings) = check(on_tmpfs(), &OPTIONS).unwrap();
    assert!(place.forgets && place.moves);
    let rules = place.rules(PLAIN);
    assert_eq!((rules.on_clock_backwards, rules.on_exhausted), (OnClockBackwards::Wait, OnExhausted::Wait));
    assert!(warnings[0].contains("records there do not outlive the container"), "{warnings:?}");
    let borrows = Rules { on_exhausted: OnExhausted::Borrow, ..PLAIN };
    let error = check(on_tmpfs(), &PlaceSettings { rules: &borrows, ..OPTIONS }).unwrap_err();
    assert_eq!(
        error.message(),
        "on_exhausted is \"borrow\"; allowed: \"wait\" with records on tmpfs, which may not outlive this container: ids \
         never run ahead of the clock"
    );
    let leased = PlaceSettings { workers: None, leases: true, rules: &borrows, ..OPTIONS };
    let place = check(on_tmpfs(), &leased).unwrap().0;
    assert!(!place.forgets, "the source keeps the spans");
    assert_eq!(place.rules(borrows), borrows);
    assert!(check(on_disk(), &PlaceSettings { rules: &borrows, ..OPTIONS }).is_ok());
    assert!(quiet(facts_of(FilesAt::Nowhere), &OPTIONS).forgets);
    assert!(!quiet(facts_of(FilesAt::Nowhere), &leased).forgets);
}

#[test]
fn a_worker_id_that_may_come_from_elsewhere_moves() {
    assert!(!quiet(on_disk(), &OPTIONS).moves);
    let leased = PlaceSettings { workers: None, leases: true, ..OPTIONS };
    for facts in [
        PlaceFacts { surroundings: Some("Kubernetes"), ..on_disk() },
        PlaceFacts { scope: Scope::Unseen, ..on_disk() },
    ] {
        assert!(quiet(facts, &leased).moves);
    }
}

#[test]
fn a_child_does_not_use_a_path_of_another_root() {
    let moved = |inherited| {
        let FilesAt::Directory { path, named, fs, .. } = directory_on(FilesystemKind::Local, "ext4") else {
            unreachable!()
        };
        PlaceFacts { inherited, ..facts_of(FilesAt::Directory { path, named, fs, left_root: true }) }
    };
    let error = check(moved(Some(7)), &OPTIONS).unwrap_err();
    assert_eq!(error.code(), Code::StateIo);
    assert!(error.message().starts_with("/data was opened before this process changed its root"), "{error}");
    assert_eq!(quiet(moved(None), &OPTIONS).inherited, None);
    assert_eq!(quiet(PlaceFacts { inherited: Some(7), ..on_disk() }, &OPTIONS).inherited, Some(7));
}

#[test]
fn a_number_in_a_program_is_the_same_for_all_who_run_it() {
    let message = |workers: Option<&'static WorkerRange>| {
        let error = check(in_browser(true), &PlaceSettings { workers, ..OPTIONS }).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        error.message().to_owned()
    };
    let tail = "this is a browser, where each visitor would get the same: lease the worker id (worker is then the URL of a \
                lease server); or, if no other profile or device has it, set exclusive_range: true";
    assert_eq!(message(Some(&ONE)), format!("worker is a number, and {tail}"));
    assert_eq!(message(Some(&RANGE)), format!("worker is a range, and {tail}"));
    assert_eq!(message(None), format!("worker is a function, and {}", tail.replace("would", "may")));
    quiet(in_browser(true), &PlaceSettings { workers: None, leases: true, ..OPTIONS });
    quiet(in_browser(true), &PlaceSettings { exclusive_range: true, ..OPTIONS });
}

#[test]
fn a_store_that_may_vanish_under_a_generator_is_waited_out() {
    let stated = PlaceSettings { exclusive_range: true, ..OPTIONS };
    let place = quiet(in_browser(true), &stated);
    assert_eq!((place.forgets, place.no_record_wait_ms), (true, 3_001));
    assert_eq!((&*place.directory, place.advice), ("IndexedDB of https://shop.example", FileAdvice::Store));
    let longer = PlaceSettings { no_record_wait_ms: 5_000, ..stated };
    assert_eq!(quiet(in_browser(true), &longer).no_record_wait_ms, 5_000);
    let place = quiet(in_browser(false), &stated);
    assert_eq!((place.forgets, place.no_record_wait_ms), (false, 0));
    let leased = PlaceSettings { workers: None, leases: true, ..OPTIONS };
    let place = quiet(in_browser(true), &leased);
    assert_eq!((place.forgets, place.no_record_wait_ms), (false, 0));
}

#[test]
fn unused_ids_belong_to_a_machine_and_its_start() {
    let (local, memory) = (FilesystemKind::Local, FilesystemKind::Ephemeral);
    let on = |kind, name: &str, machine: Option<&str>, boot: &str| {
        machine_start(&FileSystem { name: name.into(), kind }, machine.map(Into::into), boot.into())
    };
    let start = on(local, "ext4", Some("mach1ne"), "b00t").unwrap();
    assert_eq!((&*start.machine, &*start.boot), ("mach1ne", "b00t"));
    assert!(on(memory, "tmpfs", Some("mach1ne"), "b00t").is_some(), "of memory there is no copy");
    assert_eq!(on(memory, "overlay", Some("mach1ne"), "b00t"), None);
    assert_eq!(on(FilesystemKind::Network, "nfs4", Some("mach1ne"), "b00t"), None);
    assert_eq!(on(local, "ext4", None, "b00t"), None);
    assert_eq!(on(local, "ext4", Some("mach1ne"), ""), None);
}

#[test]
fn counters_in_a_file_system_that_does_not_last_are_warned_of() {
    let fs = |kind| FileSystem { name: "it".into(), kind };
    assert_eq!(check_counters(&fs(FilesystemKind::Local), "/ids", false), Ok(None));
    let warning = check_counters(&fs(FilesystemKind::Ephemeral), "/ids", false).unwrap().unwrap();
    assert!(warning.starts_with("/ids is on it: its counters are gone"), "{warning}");
    let network = fs(FilesystemKind::Network);
    let error = check_counters(&network, "/ids", false).unwrap_err();
    assert!(error.message().ends_with("or use a directory on a local disk"), "{error}");
    assert_ne!(Err(error), refuse_network(&network, "/ids", false, LOCAL_STATE));
    assert_eq!(check_counters(&network, "/ids", true), Ok(None));
}

#[test]
fn the_environment_decides_the_surroundings() {
    assert_eq!(surroundings(|_| false), None);
    for (variable, platform) in [
        ("KUBERNETES_SERVICE_HOST", "Kubernetes"),
        ("ECS_CONTAINER_METADATA_URI", "ECS"),
        ("FLY_MACHINE_ID", "Fly.io"),
    ] {
        assert_eq!(surroundings(|name| name == variable), Some(platform));
    }
}
