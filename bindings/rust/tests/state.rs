//! State files: damaged, foreign, replaced; and what a restart continues from.

#![allow(clippy::unwrap_used)]

mod common;
use common::{Place, newest};
use leafid::{Code, Layout, OnExhausted};
use std::fs;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

type Harm = fn(&Place);

/// A place whose worker 7 was used and closed.
fn used() -> Place {
    let place = Place::new();
    let flake = place.builder().worker(7).open().unwrap();
    flake.take(10_000).unwrap();
    flake.close().unwrap();
    place
}

fn flip(place: &Place, at: u64) {
    let file = fs::File::options().read(true).write(true).open(place.file(7)).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 0x20], at).unwrap();
}

#[test]
fn a_handle_closed_while_others_are_in_next() {
    for _ in 0..20 {
        let place = Place::on_disk();
        // Ahead of the clock, which would else be above all of them by the next opening. A span of few ticks has enough
        // ids that most closes come while some are left.
        let layout = Layout::parse("41|10|8").unwrap();
        let open =
            || place.builder().worker(7).layout(layout).on_exhausted(OnExhausted::Borrow).open().unwrap();
        let flake = open();
        let made = AtomicU64::new(0);
        let most = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let mut last = 0;
                        loop {
                            match flake.next() {
                                Ok(id) => last = (id, made.fetch_add(1, Relaxed)).0,
                                Err(error) => break (last, error.code()),
                            }
                        }
                    })
                })
                .collect();
            // The ids of 400 ms.
            while made.load(Relaxed) < 102_400 && !threads.iter().any(|thread| thread.is_finished()) {
                std::thread::yield_now();
            }
            // The end of a generator gives up a slow disk: then what is durable counts.
            let closed = flake.close().map_err(|error| error.message().contains("did not answer in time"));
            assert!(closed.err() != Some(false));
            threads
                .into_iter()
                .map(|t| t.join().unwrap())
                .map(|(id, code)| (id, assert_eq!(code, Code::Closed)).0)
                .max()
        });
        assert!(Some(open().next().unwrap()) > most);
    }
}

#[test]
fn damage_is_an_error_and_nothing_is_overwritten() {
    let damages: [(&str, Harm); 6] = [
        ("both slots", |p| (flip(p, 40), flip(p, 4096 + 40)).0),
        ("truncated", |p| fs::File::options().write(true).open(p.file(7)).unwrap().set_len(5_000).unwrap()),
        ("emptied", |p| fs::write(p.file(7), b"").unwrap()),
        ("longer", |p| fs::File::options().write(true).open(p.file(7)).unwrap().set_len(9_000).unwrap()),
        ("foreign", |p| fs::write(p.file(7), [b'x'; 8192]).unwrap()),
        ("zeroes", |p| fs::write(p.file(7), [0; 8192]).unwrap()),
    ];
    for (what, damage) in damages {
        let place = used();
        damage(&place);
        let before = fs::read(place.file(7)).unwrap();
        let error = place.builder().worker(7).open().unwrap_err();
        assert_eq!(error.code(), Code::StateCorrupt, "{what}: {error}");
        assert!(error.message().contains("worker-7.state"), "{error}");
        assert_eq!(fs::read(place.file(7)).unwrap(), before, "{what}");
        // A range continues with the next id.
        assert_eq!(place.builder().worker(7..=8).open().unwrap().worker_id().unwrap(), 8);
    }
}

#[test]
fn another_version_and_another_layout_are_refused() {
    let place = used();
    for layout in [Layout::SONYFLAKE, Layout::LEAF.with_epoch_ms(1_700_000_000_000).unwrap()] {
        for worker in [7..=7, 7..=9] {
            let error = place.builder().worker(worker).layout(layout).open().unwrap_err();
            assert_eq!(error.code(), Code::StateMismatch, "{error}");
        }
    }
    // As a later leafid would write it: the checksum holds, the format is another.
    let mut record = newest(&place.file(7));
    record["leafid_state"] = 2.into();
    record.as_object_mut().unwrap().remove("crc32");
    let mut text = serde_json::to_string(&record).unwrap();
    text.pop();
    let sum = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(text.as_bytes());
    let slot = format!("{:<4095}\n", format!("{text},\"crc32\":\"{sum:08x}\"}}"));
    fs::write(place.file(7), slot.repeat(2)).unwrap();
    let before = fs::read(place.file(7)).unwrap();
    let error = place.builder().worker(7).open().unwrap_err();
    assert_eq!(error.code(), Code::StateMismatch, "{error}");
    assert!(error.message().contains("format 2"), "{error}");
    assert_eq!(fs::read(place.file(7)).unwrap(), before);
}

#[test]
fn a_file_replaced_or_deleted_while_held_is_worker_lost() {
    let harms: [Harm; 3] = [
        |p| fs::remove_file(p.file(7)).unwrap(),
        |p| {
            fs::copy(p.file(7), p.dir.path().join("copy")).unwrap();
            fs::rename(p.dir.path().join("copy"), p.file(7)).unwrap();
        },
        |p| fs::write(p.file(7), [b' '; 8192]).unwrap(),
    ];
    for harm in harms {
        let place = Place::new();
        let flake = place.builder().worker(7).open().unwrap();
        let first = flake.next().unwrap();
        harm(&place);
        let after = fs::read(place.file(7)).ok();
        // What is durable may still be used; then it ends.
        let error = loop {
            match flake.next() {
                Ok(id) => assert!(id > first),
                Err(error) => break error,
            }
        };
        assert_eq!(error.code(), Code::WorkerLost, "{error}");
        assert!(flake.stats().unwrap().last_error.unwrap().starts_with("worker_lost"));
        assert_eq!(flake.close().unwrap_err().code(), Code::WorkerLost);
        assert_eq!(fs::read(place.file(7)).ok(), after, "nothing is written over it");
    }
}

#[test]
fn a_directory_that_cannot_be_made_or_is_a_file() {
    let place = Place::new();
    let file = place.dir.path().join("file");
    fs::write(&file, "").unwrap();
    for dir in [file.clone(), file.join("below"), "/proc/leafid".into(), "/dev/null".into()] {
        let error = place.builder().worker(7).state_dir(&dir).open().unwrap_err();
        assert_eq!(error.code(), Code::StateIo, "{error}");
        assert!(error.message().contains(dir.to_str().unwrap()), "{error}");
    }
    let deep = place.dir.path().join("a/b/c");
    place.builder().worker(7).state_dir(&deep).open().unwrap().next().unwrap();
}
