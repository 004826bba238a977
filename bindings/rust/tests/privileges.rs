//! A process that gives up privileges, or changes its root, after it opened: in children, for neither can be undone.
#![allow(clippy::unwrap_used)]

mod common;

use common::forks::{in_child, plain_fork};
use common::{HANG, PATIENT_MS, Place};
use leafid::{Code, Result, Segment, Segments, Snowflake};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

/// What is done to the process.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    User,
    Root,
    Both,
}

impl Change {
    fn make(self, empty: &std::path::Path) {
        if self != Change::User {
            let path = std::ffi::CString::new(empty.to_str().unwrap()).unwrap();
            // SAFETY: a path that ends with NUL.
            assert_eq!(unsafe { libc::chroot(path.as_ptr()) }, 0);
            std::env::set_current_dir("/").unwrap();
        }
        if self != Change::Root {
            // SAFETY: numbers alone; the C library tells all threads.
            unsafe {
                assert_eq!(libc::setgroups(0, std::ptr::null()), 0);
                assert_eq!((libc::setgid(65534), libc::setuid(65534)), (0, 0));
            }
        }
    }
}

fn is_root() -> bool {
    // SAFETY: it reads a number.
    let root = unsafe { libc::geteuid() } == 0;
    if !root {
        eprintln!("skipped: needs root");
    }
    root
}

/// Ids for longer than what was granted at the opening and at the change lasts.
fn ids_go_on(flake: &Snowflake) {
    let (begun, mut last) = (Instant::now(), 0);
    while begun.elapsed() < Duration::from_millis(4_500) || flake.stats().unwrap().renewals < 2 {
        assert!(begun.elapsed() < HANG, "{:?}", flake.stats());
        let id = flake.next().unwrap();
        assert!(id > last);
        last = id;
        std::thread::sleep(Duration::from_millis(5));
    }
    let stats = flake.stats().unwrap();
    assert_eq!(stats.renewal_failures, 0, "{stats:?}");
}

#[test]
fn a_generator_goes_on_without_its_privileges_and_in_another_root() {
    if !is_root() {
        return;
    }
    for change in [Change::User, Change::Root, Change::Both] {
        let (place, empty) = (Place::new(), tempfile::tempdir().unwrap());
        in_child(plain_fork, |_| {
            let flake = place.builder().worker(7).open().unwrap();
            flake.next().unwrap();
            fs::set_permissions(place.file(7).parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
            change.make(empty.path());
            ids_go_on(&flake);
            flake.close().unwrap();
        });
    }
}

#[test]
fn a_file_that_is_deleted_meanwhile_is_still_noticed() {
    if !is_root() {
        return;
    }
    for change in [Change::User, Change::Root, Change::Both] {
        let (place, empty) = (Place::new(), tempfile::tempdir().unwrap());
        in_child(plain_fork, |_| {
            let flake = place.builder().worker(7).open().unwrap();
            flake.next().unwrap();
            fs::set_permissions(place.file(7).parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
            fs::remove_file(place.file(7)).unwrap();
            change.make(empty.path());
            let end = Instant::now() + HANG;
            let error = loop {
                match flake.next() {
                    Ok(_) => assert!(Instant::now() < end, "ids go on"),
                    Err(error) => break error,
                }
                std::thread::sleep(Duration::from_millis(5));
            };
            assert_eq!(error.code(), Code::WorkerLost, "{error}");
        });
    }
}

fn segments(place: &Place) -> Segments {
    let fetch = |request: &leafid::FetchRequest| {
        let start = request.after.max(1);
        Ok(Some(Segment::new(start, start + 10, 1).unwrap().into()))
    };
    let builder = Segments::builder().fetch(fetch).name(&place.name).state_dir(place.dir.path());
    builder.timeout_ms(PATIENT_MS).open().unwrap()
}

fn first_error(mut next: impl FnMut() -> Result<i64>) -> leafid::Error {
    let error = (0..10_000).find_map(|_| next().err());
    error.unwrap()
}

#[test]
fn what_can_no_longer_be_reached_is_state_io_and_says_why() {
    if !is_root() {
        return;
    }
    for (change, said) in [(Change::User, "user 65534"), (Change::Root, "chroot")] {
        let (place, empty) = (Place::new(), tempfile::tempdir().unwrap());
        in_child(plain_fork, |_| {
            let flake = place.builder().worker(3..=4).open().unwrap();
            flake.next().unwrap();
            let ids = segments(&place);
            let order = ids.tag("order").unwrap();
            assert_eq!(order.next().unwrap(), 1);
            fs::set_permissions(place.dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
            change.make(empty.path());
            let error = common::refusal(|| first_error(|| order.next_within(3_000)));
            assert!(error.to_string().contains("state_io") && error.message().contains(said), "{error}");
            assert!(
                fs::read_dir("/").is_err()
                    || change == Change::User
                    || fs::read_dir("/").unwrap().count() == 0
            );
            in_child(plain_fork, |_| {
                let error = first_error(|| flake.next());
                assert_eq!(error.code(), Code::StateIo, "{error}");
                assert!(error.message().contains(said), "{error}");
            });
            if change == Change::User {
                let error = place.builder().worker(9).open().unwrap_err();
                assert_eq!(error.code(), Code::StateIo, "{error}");
                assert!(error.message().contains(said), "{error}");
            }
        });
    }
}

/// Calls this with less stack than leafid's own work needs, and more than a wait needs.
fn with_little_stack(low: usize, call: &mut dyn FnMut()) {
    let here = std::hint::black_box([0_u8; 512]);
    match here.as_ptr().addr() - low < 22 * 1024 {
        true => call(),
        false => with_little_stack(low, call),
    }
    std::hint::black_box(&here);
}

/// The lowest address of this thread's stack.
fn lowest() -> usize {
    let mut attributes = std::mem::MaybeUninit::uninit();
    let (mut low, mut bytes) = (std::ptr::null_mut(), 0);
    // SAFETY: of this thread; the attributes are initialised by the first call.
    unsafe {
        assert_eq!(libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()), 0);
        libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut low, &raw mut bytes);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
    }
    low.addr()
}

#[test]
fn a_close_without_a_thread_and_with_little_stack_says_so() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let source = |request: &leafid::FetchRequest| Ok(Some(Segment::new(1, 1 + request.step, 1)?.into()));
    in_child(plain_fork, |say| {
        let flake = place.builder().worker(7).open().unwrap();
        let builder = Segments::builder().state_dir(place.dir.path()).timeout_ms(PATIENT_MS);
        let ids = builder.keep_unused(true).fetch(source).open().unwrap();
        ids.tag("order").unwrap().next().unwrap();
        leafid::quiesce(HANG);
        let (go, begun) = std::sync::mpsc::channel();
        let closes = std::thread::Builder::new().stack_size(256 * 1024).spawn(move || {
            begun.recv().unwrap();
            let mut errors = Vec::new();
            with_little_stack(lowest(), &mut || {
                errors.push(ids.close());
                errors.push(flake.close());
            });
            errors
        });
        Change::User.make(place.dir.path());
        let none = libc::rlimit { rlim_cur: 1, rlim_max: 1 };
        // SAFETY: a limit of this process's own.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NPROC, &raw const none) }, 0);
        go.send(()).unwrap();
        for closed in closes.unwrap().join().unwrap() {
            let error = closed.unwrap_err();
            assert_eq!(error.code(), Code::StateIo);
            assert!(error.message().contains("bytes of stack left"), "{error}");
        }
        say(0);
    });
}
