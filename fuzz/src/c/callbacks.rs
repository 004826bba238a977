//! Callbacks of a C program: right ones, and wrong in each way in which C lets them be.

use leafid_c::*;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU8, Ordering::SeqCst};

/// How callbacks answer, as the input says it.
pub(super) static MOOD: AtomicU8 = AtomicU8::new(0);
/// Every range of every source is taken from here.
static COUNTER: AtomicI64 = AtomicI64::new(1);
/// What is given to the library, and not given back.
static GIVEN: Mutex<Vec<usize>> = Mutex::new(Vec::new());
static NEXT: AtomicI64 = AtomicI64::new(1);

/// A pointer to pass on. It is no address, and may not be dereferenced.
pub(super) fn given() -> *mut c_void {
    let number = NEXT.fetch_add(1, SeqCst) as usize;
    GIVEN.lock().expect("no panic").push(number);
    std::ptr::without_provenance_mut(number)
}

pub(super) unsafe extern "C" fn give_back(user_data: *mut c_void) {
    let mut given = GIVEN.lock().expect("no panic");
    let at = given.iter().position(|&number| number == user_data.addr()).expect("given back once");
    given.swap_remove(at);
}

fn is_given(user_data: *mut c_void) {
    assert!(GIVEN.lock().expect("no panic").contains(&user_data.addr()), "called after it was given back");
}

/// Calls that are under way end soon; then nothing of an earlier run is left.
pub(super) fn all_given_back() {
    for _ in 0..10_000 {
        if GIVEN.lock().expect("no panic").is_empty() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("not given back after 10 s: {:?}", GIVEN.lock());
}

/// An error's text: none, one that ends, one that is no UTF-8 and does not end.
unsafe fn fail(error: *mut c_char, cap: usize, mood: u8) {
    // SAFETY: this many bytes are writable.
    let room = unsafe { std::slice::from_raw_parts_mut(error.cast::<u8>(), cap) };
    match mood % 3 {
        0 => {}
        1 => room[..5].copy_from_slice(b"lost\0"),
        _ => room.fill(0xff),
    }
}

pub(super) unsafe extern "C" fn fetch(
    user_data: *mut c_void,
    tag: *const c_char,
    step: i64,
    out: *mut leafid_segment,
    error: *mut c_char,
    error_cap: usize,
) -> c_int {
    is_given(user_data);
    // SAFETY: the header's contract: what is passed lives until this returns.
    let (out, tag) = unsafe { (&mut *out, CStr::from_ptr(tag)) };
    assert!(tag.to_str().is_ok_and(|tag| !tag.is_empty()) && (1..=1 << 24).contains(&step), "{tag:?} {step}");
    assert!(out.size >= size_of::<leafid_segment>() && out.after >= 0 && out.start == -1);
    let mood = MOOD.load(SeqCst);
    match mood % 16 {
        8 => out.start = 1,
        9 => (out.start, out.end) = (5, 4),
        10 => (out.start, out.end) = (1, 11),
        11 => return leafid_status::LEAFID_UNKNOWN_TAG as c_int,
        12 | 13 => {
            // SAFETY: as above.
            unsafe { fail(error, error_cap, mood >> 4) };
            return if mood % 16 == 12 { -1 } else { c_int::from(mood) };
        }
        14 => (out.start, out.end, out.stride) = (COUNTER.fetch_add(1, SeqCst), i64::MIN, i64::MIN),
        15 => {}
        few => {
            let count = i64::from(few) * 3 + 1;
            let stride = if few == 7 { 7 } else { 1 };
            out.start = COUNTER.fetch_add(count * stride, SeqCst);
            (out.end, out.stride) = (out.start + count * stride, if few == 6 { 0 } else { stride });
        }
    }
    0
}

pub(super) unsafe extern "C" fn claim(
    user_data: *mut c_void,
    name: *const c_char,
    previous: i64,
    worker_id: *mut i64,
    error: *mut c_char,
    error_cap: usize,
) -> c_int {
    is_given(user_data);
    // SAFETY: the header's contract.
    assert!(!unsafe { CStr::from_ptr(name) }.is_empty() && previous >= -1);
    let mood = MOOD.load(SeqCst);
    let answer = match mood % 8 {
        5 => -1,
        6 => i64::MAX,
        7 => {
            // SAFETY: as above.
            unsafe { fail(error, error_cap, mood >> 4) };
            return c_int::from(mood >> 3);
        }
        id => id.into(),
    };
    // SAFETY: the header's contract.
    unsafe { worker_id.write(answer) };
    0
}

pub(super) unsafe extern "C" fn peers(
    user_data: *mut c_void,
    out: *mut i64,
    cap: usize,
    n: *mut usize,
    error: *mut c_char,
    error_cap: usize,
) -> c_int {
    is_given(user_data);
    let mood = MOOD.load(SeqCst);
    // SAFETY: the header's contract: this many have room.
    let room = unsafe { std::slice::from_raw_parts_mut(out, cap) };
    room.fill(if mood & 1 == 0 { i64::from(mood) } else { i64::MAX });
    let said = [0, 1, 3, cap, cap + 1, usize::MAX, 2, 0][usize::from(mood >> 1 & 7)];
    // SAFETY: as above.
    unsafe {
        n.write(said);
        if mood & 64 != 0 {
            fail(error, error_cap, mood);
        }
    }
    if mood & 64 != 0 { c_int::from(mood & 31) } else { 0 }
}

pub(super) unsafe extern "C" fn lease(
    user_data: *mut c_void,
    request: *const leafid_claim_request,
    lease: *mut leafid_lease,
    error: *mut c_char,
    error_cap: usize,
) -> c_int {
    is_given(user_data);
    let mood = MOOD.load(SeqCst);
    // SAFETY: the header's contract.
    let (request, lease) = unsafe { (&*request, &mut *lease) };
    assert!(request.size >= size_of::<leafid_claim_request>() && lease.size >= size_of::<leafid_lease>());
    lease.worker_id = i64::from(mood & 7);
    // No two claims overlap: each begins where it is now, at the earliest, and lasts as long as it says.
    (lease.from_ms, lease.until_ms, lease.lease_ms) = (request.now_ms, request.now_ms + 60_000, 60_000);
    match mood >> 3 {
        20 => lease.until_ms = lease.from_ms,
        21 => lease.until_ms = i64::MAX,
        22 => lease.from_ms = i64::MIN,
        23 => lease.token.fill(b'x' as c_char),
        24 => lease.peers = usize::MAX,
        25 => lease.lease_ms = -1,
        26 => lease.worker_id = i64::MAX,
        27 => lease.token[0] = -1,
        28.. => {
            // SAFETY: as above.
            unsafe { fail(error, error_cap, mood) };
            return c_int::from(mood & 31) + 1;
        }
        _ => {}
    }
    0
}

pub(super) unsafe extern "C" fn renew(
    user_data: *mut c_void,
    lease: *mut leafid_lease,
    until_ms: i64,
    error: *mut c_char,
    error_cap: usize,
) -> c_int {
    is_given(user_data);
    let mood = MOOD.load(SeqCst);
    // SAFETY: the header's contract.
    unsafe {
        match mood >> 6 {
            3 => {
                fail(error, error_cap, mood);
                return c_int::from(mood & 31);
            }
            2 => (*lease).token.fill(b'y' as c_char),
            _ => (*lease).until_ms = until_ms,
        }
    }
    0
}

pub(super) unsafe extern "C" fn release(
    user_data: *mut c_void,
    _: *const leafid_lease,
    _: i64,
    _: *mut c_char,
    _: usize,
) -> c_int {
    is_given(user_data);
    c_int::from(MOOD.load(SeqCst) >> 7)
}

/// Records are one line of UTF-8 each.
pub(super) unsafe extern "C" fn log(_: *mut c_void, level: i32, message: *const c_char) {
    // SAFETY: the header's contract.
    let text = unsafe { CStr::from_ptr(message) }.to_str().expect("UTF-8");
    assert!((1..=4).contains(&level) && !text.is_empty() && !text.contains(char::is_control), "{text:?}");
}
