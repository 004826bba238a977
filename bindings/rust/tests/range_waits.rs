//! A start that finds every worker id of its range held waits for one to come free.
#![allow(clippy::unwrap_used)]

mod common;

use common::Place;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

struct Heard(Mutex<Option<Sender<String>>>);

static HEARD: Heard = Heard(Mutex::new(None));

impl log::Log for Heard {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }
    fn log(&self, record: &log::Record<'_>) {
        let said = record.args().to_string();
        // Other tests of this host hold the same worker id in id spaces of their own: openings warn of it.
        if record.level() == log::Level::Warn
            && !said.contains("is held on this host under another name")
            && let Some(heard) = &*self.0.lock().unwrap()
        {
            heard.send(said).unwrap();
        }
    }
    fn flush(&self) {}
}

#[test]
fn the_first_id_that_comes_free_is_taken_and_the_wait_is_logged_once() {
    let (send, heard) = channel();
    *HEARD.0.lock().unwrap() = Some(send);
    log::set_logger(&HEARD).unwrap();
    log::set_max_level(log::LevelFilter::Warn);
    let place = Place::on_disk();
    let of = |random_start: i64| place.builder().worker(3..=4).random_start(random_start);
    let (one, other) = (of(1).open().unwrap(), of(2).open().unwrap());
    let freed = other.worker_id().unwrap();
    let later = of(3).timeout_ms(60_000);
    let waiter = std::thread::spawn(move || later.open().unwrap());
    let said = heard.recv().unwrap();
    assert!(said.contains("is held; waiting up to 60000 ms") && said.contains("twice as many ids"), "{said}");
    other.close().unwrap();
    let third = waiter.join().unwrap();
    assert_eq!(third.worker_id().unwrap(), freed);
    assert!(third.next().unwrap() > 0 && one.next().unwrap() > 0);
    assert_eq!(heard.try_iter().count(), 0, "it was logged once");
}
