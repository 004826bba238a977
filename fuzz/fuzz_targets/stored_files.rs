//! Marks, cached leases and counters of `file:` sources: what is read of two slots, and what is issued by it.
#![no_main]

use leafid::fuzzing::{accept, clock, find_cached, stored_lease, stored_of_segments, take};
use leafid::{Code, Result, Segment, Snowflake};
use leafid_core::IdOrder;
use leafid_fuzz::{Input, SLOT, check, directory, file, json};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const TAG: &str = "order";
const SERVER: &str = "http://127.0.0.1:1";
const OWNER: u128 = 0x5eed;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    match input.byte() % 6 {
        0 => marks(&mut input, IdOrder::Ascending),
        1 => marks(&mut input, IdOrder::Ranges),
        2 => marks(&mut input, IdOrder::Sparse),
        3 => lease(&mut input),
        4 => counter(&mut input),
        _ => drop(alike(&file(&mut input, &str::to_owned), &|bytes| stored_of_segments("marker", bytes))),
    }
});

/// What is read is written, and read again, alike: with every field as it stood. Answers what was read.
fn alike(bytes: &[u8], read: &dyn Fn(&[u8]) -> Result<(Vec<u8>, bool)>) -> Option<(Value, bool)> {
    let (slot, damaged) = match read(bytes) {
        Ok(read) => read,
        // What leaves out a field may not fit when it is written with it.
        Err(error) if error.code() == Code::Internal => return None,
        Err(error) => {
            assert!(matches!(error.code(), Code::StateCorrupt | Code::StateMismatch), "{error}");
            check(&error);
            return None;
        }
    };
    assert_eq!((bytes.len(), slot.len()), (2 * SLOT, SLOT));
    assert_eq!(read(&[&slot[..], &slot[..]].concat()), Ok((slot.clone(), false)));
    let written = json(&slot);
    let stood = bytes.chunks(SLOT).filter_map(|slot| serde_json::from_slice::<Value>(slot).ok());
    assert!(stood.into_iter().any(|stood| is_within(&written, &stood)), "{written} is not what stood there");
    Some((written, damaged))
}

/// Whether all that was written stood there; checksums are another matter, and so are fields that were left out.
fn is_within(written: &Value, stood: &Value) -> bool {
    match (written, stood) {
        (Value::Object(written), Value::Object(stood)) => written.iter().all(|(name, value)| {
            name == "crc32" || stood.get(name).is_some_and(|stood| is_within(value, stood))
        }),
        (Value::Array(written), Value::Array(stood)) => {
            written.len() == stood.len()
                && written.iter().zip(stood).all(|(one, other)| is_within(one, other))
        }
        // Numbers in text may begin with zeros.
        (Value::String(written), Value::String(stood)) => {
            written == stood
                || stood.strip_suffix(&written[..]).is_some_and(|more| more.bytes().all(|b| b == b'0'))
        }
        _ => written == stood,
    }
}

/// Puts bytes into a file, in place.
fn put(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

fn refused(error: &leafid::Error, path: &Path, bytes: &[u8]) {
    check(error);
    if matches!(error.code(), Code::StateCorrupt | Code::StateMismatch) {
        assert_eq!(std::fs::read(path).expect("the file"), bytes, "{error}");
    }
}

/// No id that the marks know is let pass, nor one twice.
fn marks(input: &mut Input<'_>, order: IdOrder) {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    let place = directory("marks");
    let path = PATH.get_or_init(|| {
        accept(&place, IdOrder::Ascending, TAG, &[Segment::new(1, 2, 1).expect("one")]).expect("marks");
        let made = std::fs::read_dir(&place).expect("a directory").next().expect("a file").expect("a file");
        made.path()
    });
    let number = |input: &mut Input<'_>| input.number().unsigned_abs() as i64 & i64::MAX;
    let (start, count, stride) = (number(input), number(input), number(input));
    let bytes = file(input, &str::to_owned);
    let known = alike(&bytes, &|bytes| stored_of_segments("mark", bytes));
    let Ok(segment) = Segment::new(start, start.saturating_add(count), stride) else { return };
    put(path, &bytes);
    let accepted = match accept(&place, order, TAG, &[segment]) {
        Ok(accepted) => accepted,
        Err(error) => return refused(&error, path, &bytes),
    };
    assert_eq!(accepted, [segment]);
    let (known, _) = known.expect("a file that cannot be read is not used");
    let mark: i64 = known["mark"].as_str().and_then(|mark| mark.parse().ok()).expect("a mark");
    assert!(order != IdOrder::Ascending || start >= mark, "{segment:?} is below {mark}");
    for (first, last) in spans(known["spans"].as_str().expect("spans")) {
        let crosses = i128::from(start) <= last && first <= i128::from(segment.last());
        // Those of other strides may lie between.
        assert!(!crosses || stride != 1, "{segment:?} crosses {first} to {last}");
    }
    let again = accept(&place, order, TAG, &[segment]).expect_err("it was given before");
    assert_eq!(again.code(), Code::SegmentRegressed, "{again}");
}

/// The ends of what was given, without the code under test.
fn spans(text: &str) -> Vec<(i128, i128)> {
    let mut before = 0;
    let one = |span: &str| {
        let numbers: Vec<i128> = span.split(',').map(|number| number.parse().expect("a number")).collect();
        before += numbers[0];
        (before, before + (numbers[1] - 1) * numbers.get(2).copied().unwrap_or(1))
    };
    text.split(';').filter(|span| !span.is_empty()).map(one).collect()
}

/// A counter gives nothing that it, or the marks, say was given.
fn counter(input: &mut Input<'_>) {
    static MADE: OnceLock<(String, PathBuf)> = OnceLock::new();
    let place = directory("counters");
    let (id, path) = MADE.get_or_init(|| {
        take(&place, true, TAG, 1, 0).expect("a counter");
        let path = place.join(format!("tag-{TAG}.counter"));
        let bytes = std::fs::read(&path).expect("a counter");
        (json(&bytes[..SLOT])["directory"].as_str().expect("an id").to_owned(), path)
    });
    let (step, after) = (input.number(), input.number().max(0));
    let bytes = file(input, &|line| line.replace('@', id));
    let known = alike(&bytes, &|bytes| stored_of_segments("counter", bytes));
    put(path, &bytes);
    let mut next = after;
    for n in 0..3 {
        let segment = match take(&place, false, TAG, step, after) {
            Ok(segment) => segment,
            Err(error) => {
                if n == 0 {
                    refused(&error, path, &bytes);
                }
                return check(&error);
            }
        };
        let (known, damaged) = known.as_ref().expect("a file that cannot be read is not used");
        let counted: i64 = known["next"].as_str().and_then(|next| next.parse().ok()).expect("a number");
        let skipped = if *damaged { counted.saturating_add(1 << 24) } else { counted };
        assert!(segment.start() >= next.max(skipped) && segment.stride() == 1, "{segment:?} {known}");
        assert!(segment.len() <= 1 << 24, "{segment:?}");
        next = segment.end();
    }
}

/// A lease is gone on with as it stood, while it lasts, in its own file.
fn lease(input: &mut Input<'_>) {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    let base = directory("leases");
    let path = PATH.get_or_init(|| {
        std::fs::create_dir_all(base.join("fuzz")).expect("a directory");
        let path = base.join("fuzz").join("worker-7.lease");
        put(&path, b"");
        path
    });
    let (boot, counted_ms) = clock();
    let meta = std::fs::metadata(path).expect("the file");
    let now_ms = || {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
        now.as_millis() as i64
    };
    let bytes = file(input, &|line| {
        use std::os::unix::fs::MetadataExt;
        let values = [
            ("@boot", boot.clone()),
            ("@ends", (counted_ms + 60_000).to_string()),
            ("@until", (now_ms() + 60_000).to_string()),
            ("@now", now_ms().to_string()),
            ("@device", meta.dev().to_string()),
            ("@inode", meta.ino().to_string()),
        ];
        values.iter().fold(line.to_owned(), |line, (name, value)| line.replace(name, value))
    });
    let known = alike(&bytes, &stored_lease);
    put(path, &bytes);
    let builder = Snowflake::builder().worker(7).name("fuzz").state_dir(&base);
    let cached = match find_cached(&builder, &[SERVER.to_owned()], 7, OWNER) {
        Ok(Some(cached)) => cached,
        Ok(None) => return,
        Err(error) => return refused(&error, path, &bytes),
    };
    let ((lease, asked), (known, damaged)) = (cached, known.expect("a file that cannot be read is not used"));
    let held = &known["held"];
    assert!(!damaged && lease.worker_id == 7 && known["servers"][0] == SERVER && known["name"] == "fuzz");
    assert_eq!(
        (held["from_ms"].as_i64(), held["until_ms"].as_i64()),
        (Some(lease.from_ms), Some(lease.until_ms))
    );
    assert_eq!(
        (held["boot"].as_str(), held["inode"].as_u64()),
        (Some(&boot[..]), {
            use std::os::unix::fs::MetadataExt;
            Some(meta.ino())
        })
    );
    assert_eq!(held["owner"], format!("{OWNER:032x}"));
    let ends_ms = asked.as_millis() as i64 + lease.lease_ms.expect("a time");
    assert!(held["ends_ms"].as_i64() == Some(ends_ms) && lease.until_ms > now_ms() - 60_000, "{lease:?}");
}
