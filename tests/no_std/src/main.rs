//! The core at work with no standard library and no C library: exits with 0 if every check holds, else with the number
//! of the check that failed.
#![no_std]
#![no_main]

extern crate alloc;

mod memory;
mod system;

use alloc::string::ToString;
use leafid_core::{Action, Code, Layout, Record, Rules, Snowflake, Span, next_until, parse_id};

const NOW_MS: i64 = 1_567_733_700_834;
const ID: i64 = 1_169_786_042_799_259_000;

/// Names each check by its place, so that the exit status tells which one failed.
fn checks() -> [bool; 14] {
    let leaf = Layout::LEAF;
    let rules = Rules { random_start: 0, ..Rules::default() };
    let from = leaf.tick_at(NOW_MS).unwrap_or(0);
    let until = next_until(&leaf, &rules, &[], from, NOW_MS, 0).unwrap_or(from);
    let flake = Snowflake::new(leaf, rules, 39, from, 0);
    let needs = flake.next(NOW_MS) == Err(Action::NeedSpan);
    flake.grant(Span { from, until });
    let first = leaf.compose(NOW_MS, 39, 0);
    let issued = flake.next(NOW_MS).map_err(|_| ()) == first.clone().map_err(|_| ());
    let reserved = flake.reserve(NOW_MS, 10_000).map(|run| run.count) == Ok(4_095);
    let wide = Layout::parse("35|5|23").and_then(|layout| layout.with_epoch_ms(1_767_225_600_000));
    let refused = leaf.compose(NOW_MS, 1_024, 0);
    [
        leaf.compose(NOW_MS, 39, 3_448) == Ok(ID),
        leaf.decode(ID).is_ok_and(|parts| (parts.worker_id, parts.sequence) == (39, 3_448)),
        parse_id("1169786042799259000") == Ok(ID) && parse_id("0x1").is_err(),
        needs && issued,
        reserved && flake.next(NOW_MS) == Err(Action::WaitUntil(NOW_MS + 1)),
        flake.seal() == Some(from + 1) && flake.next(NOW_MS) == Err(Action::Sealed),
        wide.is_ok_and(|layout| layout.max_sequence() == (1 << 23) - 1),
        // Errors are text on the heap.
        refused.is_err_and(|error| {
            let (code, error) = (error.code(), error.context("compose"));
            code == Code::InvalidArgument
                && match cfg!(feature = "messages") {
                    true => {
                        error.to_string()
                            == "invalid_argument: compose: worker_id is 1024; allowed: 0 to 1023"
                    }
                    false => error.to_string() == "invalid_argument: worker_id",
                }
        }),
        leaf.compose(0, 0, 0)
            .is_err_and(|error| (error.to_string() == "before_epoch") != cfg!(feature = "messages")),
        Record::unused(39, leaf).admit(&rules, NOW_MS) == leafid_core::snowflake::Admission::From(from),
        formats(),
        options(),
        public_ids(),
        wire(),
    ]
}

/// A record is written and read.
#[cfg(feature = "format")]
fn formats() -> bool {
    use leafid_core::format::state::{StoredRecord, Writer, read_file, unused_file};
    let record = Record::unused(39, Layout::LEAF);
    let stored = StoredRecord { number: 0, name: "orders".into(), record, writer: Writer::default() };
    let bytes = unused_file(stored.clone());
    let found = bytes.and_then(|bytes| read_file("worker-39.state", &bytes));
    found.is_ok_and(|found| found.newest == StoredRecord { number: 1, ..stored } && !found.damaged)
}

#[cfg(not(feature = "format"))]
fn formats() -> bool {
    true
}

/// Worker ids are read, and an option is refused with the allowed values.
#[cfg(feature = "options")]
fn options() -> bool {
    use leafid_core::options::{WorkerOption, WorkerRange, id_space};
    let ids = WorkerRange::parse("worker", WorkerOption::Text("hostname:a*8"), &Layout::LEAF, "a-2");
    ids.is_ok_and(|ids| (ids.first, ids.last) == (16, 23)) && id_space(Some(".")).is_err()
}

#[cfg(not(feature = "options"))]
fn options() -> bool {
    true
}

/// An id is encrypted and decrypted, as tests/vectors/public_ids.json has it.
#[cfg(feature = "public-ids")]
fn public_ids() -> bool {
    use leafid_core::{PublicIdKey, PublicIds};
    let key = PublicIdKey::from_hex("2b7e151628aed2a6abf7158809cf4f3c");
    let ids = key.and_then(|key| PublicIds::new(key, 1));
    ids.is_ok_and(|ids| {
        ids.encrypt(ID) == Ok(4_055_163_823_241_320_842)
            && ids.decrypt(4_055_163_823_241_320_842, 1) == Ok(ID)
    })
}

#[cfg(not(feature = "public-ids"))]
fn public_ids() -> bool {
    true
}

/// A response is read.
#[cfg(feature = "wire")]
fn wire() -> bool {
    use leafid_core::wire::{Response, lease_server};
    let renewal = br#"{"until":9,"lease_ms":4,"token":"t","nonce":"n"}"#;
    lease_server::judge_renewal(&Response::new("http://a", 200, renewal, "worker"), "n").into_result().is_ok()
}

#[cfg(not(feature = "wire"))]
fn wire() -> bool {
    true
}

/// Where the program begins, called by `_start` with an aligned stack.
#[unsafe(no_mangle)]
extern "C" fn begin() -> ! {
    let failed = checks().iter().position(|holds| !holds);
    system::exit(failed.map_or(0, |at| at as i32 + 1))
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    system::exit(101)
}
