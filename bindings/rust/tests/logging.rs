//! Log records on their way into another language.
#![allow(clippy::unwrap_used)]

mod common;
use common::{HANG, Place, until};
use leafid::log_queue::{self, Level, LevelFilter, QueuedLogger};
use leafid::{Code, WorkerSource};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

static LOGGER: QueuedLogger = QueuedLogger::new(sink);
/// What arrived, with the name of the thread.
static ARRIVED: Mutex<Vec<(Level, String, String)>> = Mutex::new(Vec::new());
/// While set, a delivery lasts.
static HELD: AtomicBool = AtomicBool::new(false);
/// Whether a delivery lasts.
static LASTS: AtomicBool = AtomicBool::new(false);
const ENOUGH: Duration = HANG;

fn sink(level: Level, message: &str) {
    while HELD.load(SeqCst) {
        LASTS.store(true, SeqCst);
        std::thread::sleep(Duration::from_millis(1));
    }
    let thread = std::fs::read_to_string("/proc/thread-self/comm").unwrap();
    ARRIVED.lock().unwrap().push((level, message.to_owned(), thread.trim().to_owned()));
    assert!(!message.contains("panic"), "as asked");
}

/// One test at a time: a process has one logger.
fn alone(level: LevelFilter) -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    HELD.store(false, SeqCst);
    log_queue::wait(ENOUGH);
    LASTS.store(false, SeqCst);
    LOGGER.install(level);
    ARRIVED.lock().unwrap().clear();
    alone
}

type Records = Vec<(Level, String)>;

/// Other tests of this machine may hold the same worker id, and each has a name of its own.
const OTHER_NAME: &str = "under another name";

/// What has arrived once nothing is on its way.
fn arrived() -> Records {
    let (_, others) = all_arrived();
    others
}

/// The warnings of other names, and all else.
fn all_arrived() -> (Records, Records) {
    log_queue::wait(ENOUGH);
    let arrived = std::mem::take(&mut *ARRIVED.lock().unwrap());
    let arrived = arrived.into_iter().map(|(level, message, _)| (level, message));
    arrived.partition(|(_, message)| message.contains(OTHER_NAME))
}

fn delivering_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).ok());
    names.filter(|name| name.trim() == "leafid-log").count()
}

#[test]
fn an_opening_is_told_on_a_thread_that_then_is_gone() {
    let _alone = alone(LevelFilter::Info);
    let place = Place::on_disk();
    place.builder().worker(7).open().unwrap();
    log_queue::wait(ENOUGH);
    assert_eq!(delivering_threads(), 0);
    let all = ARRIVED.lock().unwrap().clone();
    let directory = place.dir.path().join(&place.name);
    let said = format!("state directory {}, worker id 7 of {:?}", directory.display(), place.name);
    let (level, _, thread) = all.iter().find(|(_, message, _)| message.starts_with(&said)).unwrap();
    assert_eq!((*level, thread.as_str()), (Level::Info, "leafid-log"));
}

#[test]
fn a_damaged_slot_is_a_warning_and_information_is_left_out_on_demand() {
    let _alone = alone(LevelFilter::Warn);
    let place = Place::on_disk();
    place.builder().worker(7).open().unwrap();
    assert_eq!(arrived(), []);
    let file = std::fs::OpenOptions::new().write(true).open(place.file(7)).unwrap();
    file.write_all_at(b"damaged", 0).unwrap();
    place.builder().worker(7).open().unwrap();
    let told = arrived();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].0, Level::Warn);
    assert!(told[0].1.starts_with("one slot of ") && told[0].1.contains("is damaged"), "{told:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn what_stands_in_the_place_of_a_lock_file_is_a_warning_once() {
    let _alone = alone(LevelFilter::Warn);
    let place = Place::on_disk();
    let stranger = format!("/run/lock/leafid-{}-7.lock", place.name);
    if std::fs::create_dir(&stranger).is_err() {
        // Only root may write there, and no file is locked.
        return;
    }
    let refused = place.builder().worker(7).open().unwrap_err();
    let other = place.builder().worker(7..=8).open().map(|flake| flake.worker_id().unwrap());
    std::fs::remove_dir(&stranger).unwrap();
    assert_eq!((refused.code(), other.unwrap()), (Code::WorkerInUse, 8));
    assert!(refused.message().contains(&stranger), "{refused}");
    let told = arrived();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].1.contains(&stranger), "{told:?}");
}

#[test]
fn a_worker_id_under_another_name_is_a_warning_once_for_each_opening() {
    let _alone = alone(LevelFilter::Info);
    let (checkout, importer) = (Place::on_disk(), Place::on_disk());
    let told = |place: &Place, of: &Place| {
        let (warnings, _) = all_arrived();
        let about = format!("of {:?} is held on this host", place.name);
        let of = format!("{:?}", of.name);
        warnings
            .iter()
            .filter(|(level, text)| *level == Level::Warn && text.contains(&about) && text.contains(&of))
            .count()
    };
    // An opening does not wait for the look at other names.
    let until_told = |place: &Place| until("the warning", || told(place, &checkout) == 1);
    // Names are shown up to three, so a worker id that hardly any other test holds.
    let _first = checkout.builder().worker(917).open().unwrap();
    assert_eq!(told(&checkout, &importer), 0);
    let fixed = importer.builder().worker(917).open().unwrap();
    let _same = importer.builder().worker(917).open().unwrap();
    until_told(&importer);
    drop((fixed, _same));
    let _range = importer.builder().worker(917..=920).open().unwrap();
    until_told(&importer);
    let given = Place::on_disk();
    let source = WorkerSource::callback(|_| Ok(Some(917)));
    let _given = given.builder().worker(source).open().unwrap();
    until_told(&given);
}

#[test]
fn what_is_too_much_is_dropped_and_that_is_said() {
    let _alone = alone(LevelFilter::Info);
    HELD.store(true, SeqCst);
    let first = Instant::now();
    log::info!(target: "leafid", "leafid: first");
    until("the first one leaves the queue", || LASTS.load(SeqCst));
    for number in 0..300 {
        log::info!(target: "leafid", "leafid: {number}");
    }
    assert!(first.elapsed() < ENOUGH, "who logs does not wait");
    HELD.store(false, SeqCst);
    while first.elapsed() < ENOUGH && ARRIVED.lock().unwrap().len() < 257 {
        std::thread::sleep(Duration::from_millis(1));
    }
    log::info!(target: "leafid", "leafid: next");
    log::info!(target: "leafid", "leafid: last");
    let messages: Vec<String> = arrived().into_iter().map(|(_, message)| message).collect();
    assert_eq!(messages.len(), 259);
    assert_eq!((messages[0].as_str(), messages[256].as_str()), ("first", "255"));
    assert_eq!(messages[257], "next (44 records before this one were dropped: more came than were handled)");
    assert_eq!(messages[258], "last");
}

#[test]
fn records_of_other_libraries_and_of_lower_levels_are_left_out() {
    let _alone = alone(LevelFilter::Info);
    log::info!(target: "ureq", "not leafid's");
    log::debug!(target: "leafid", "too fine");
    log::warn!(target: "leafid", "panic, please");
    log::warn!(target: "leafid", "after the panic");
    let messages: Vec<String> = arrived().into_iter().map(|(_, message)| message).collect();
    assert_eq!(messages, ["panic, please", "after the panic"]);
}

#[test]
fn a_child_delivers_nothing_of_its_parents() {
    let _alone = alone(LevelFilter::Info);
    HELD.store(true, SeqCst);
    for number in 0..10 {
        log::info!(target: "leafid", "of the parent {number}");
    }
    let before = Instant::now();
    // SAFETY: the child runs this test's own code and ends at once.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let ran = std::panic::catch_unwind(|| {
            HELD.store(false, SeqCst);
            assert_eq!(arrived(), []);
            log_queue::wait_for_delivery();
            log::info!(target: "leafid", "of the child");
            assert_eq!(arrived(), [(Level::Info, "of the child".to_owned())]);
        });
        // SAFETY: ends the child without its parent's exit handlers.
        unsafe { libc::_exit(i32::from(ran.is_err())) };
    }
    assert!(before.elapsed() < ENOUGH, "the fork waits for the handler, but not for ever");
    let mut status = -1;
    // SAFETY: waits for the child made above.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(status, 0);
    HELD.store(false, SeqCst);
    assert_eq!(arrived().len(), 10, "none is lost in the parent");
}

#[test]
fn a_fork_finds_no_thread_of_quick_records() {
    let _alone = alone(LevelFilter::Info);
    let mut quick = 0;
    for _ in 0..50 {
        log::info!(target: "leafid", "quick");
        let begun = Instant::now();
        let found = delivering_at_fork();
        quick += usize::from(found == 0);
        // A fork waits for 100 ms: on a slow machine the record may not be quick enough.
        assert!(found == 0 || begun.elapsed() >= Duration::from_millis(100));
    }
    assert!(quick > 0);
}

/// How many delivering threads there are right after a fork, in the parent.
fn delivering_at_fork() -> usize {
    // SAFETY: the child ends at once.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: as above.
        unsafe { libc::_exit(0) };
    }
    let threads = delivering_threads();
    // SAFETY: waits for the child made above.
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    threads
}

#[test]
fn settling_waits_for_the_delivery_under_way() {
    let _alone = alone(LevelFilter::Info);
    log_queue::wait_for_delivery();
    HELD.store(true, SeqCst);
    log::info!(target: "leafid", "slow");
    until("the delivery", || LASTS.load(SeqCst));
    assert_eq!(delivering_threads(), 1);
    let release = std::thread::spawn(|| {
        std::thread::sleep(Duration::from_millis(100));
        HELD.store(false, SeqCst);
    });
    log_queue::wait_for_delivery();
    assert!(!HELD.load(SeqCst));
    assert_eq!(ARRIVED.lock().unwrap().len(), 1);
    release.join().unwrap();
}

#[test]
fn what_is_logged_while_quiesced_comes_after() {
    let _alone = alone(LevelFilter::Info);
    log::info!(target: "leafid", "before");
    leafid::quiesce(ENOUGH);
    assert_eq!(ARRIVED.lock().unwrap().len(), 1, "it waits for what there was");
    log::info!(target: "leafid", "meanwhile");
    assert_eq!(delivering_at_fork(), 0);
    assert_eq!(ARRIVED.lock().unwrap().len(), 1);
    leafid::resume();
    let messages: Vec<String> = arrived().into_iter().map(|(_, message)| message).collect();
    assert_eq!(messages, ["before", "meanwhile"]);
}

#[test]
fn a_claim_that_waits_tells_for_what() {
    let _alone = alone(LevelFilter::Info);
    let place = Place::on_disk();
    let held = place.builder().worker(7..=8).open().unwrap();
    let other = place.builder().worker(8).open().unwrap();
    held.next().unwrap();
    let closing = std::thread::spawn(move || {
        let waits = |(_, told, _): &(Level, String, String)| told.contains("waiting up to");
        until("the claim that waits", || ARRIVED.lock().unwrap().iter().any(waits));
        std::thread::sleep(Duration::from_millis(150));
        other.close().unwrap();
    });
    drop(place.builder().worker(7..=8).start_after(1).timeout_ms(60_000).open().unwrap());
    closing.join().unwrap();
    let told = arrived();
    let waited = told.iter().find(|(_, message)| message.contains(" waited ")).unwrap();
    let start = format!("the claim of worker id 8 of {:?} waited ", place.name);
    assert!(
        waited.1.starts_with(&start) && waited.1.contains(" ms for worker ids that were held"),
        "{told:?}"
    );

    let source = || {
        std::thread::sleep(Duration::from_millis(150));
        Ok(Some(3))
    };
    drop(place.builder().worker(leafid::WorkerSource::callback(move |_| source())).open().unwrap());
    let told = arrived();
    let text = "the claim of a worker id waited ";
    let found = told
        .iter()
        .any(|(_, told)| told.starts_with(text) && told.ends_with(" ms for the source of worker ids"));
    assert!(found, "{told:?}");
}
