//! Worker ids from user callbacks.

use crate::callback::{UserData, call, leafid_free_fn, missing};
use crate::leafid_status;
use crate::lease::{leafid_claim_request, leafid_lease};
use crate::options::{leafid_snowflake_options, set_worker};
use crate::pointer::shared;
use crate::sized::TOO_LARGE;
use crate::text;
use leafid::{Answer, ClaimRequest, Code, Error, Lease, Renewal, Result, WorkerLeases, WorkerSource};
use std::ffi::{c_char, c_int, c_void};

/// Writes to `worker_id` an id that no other process on any host holds. `name` is the id space. `previous` is the id
/// that this generator, or the parent of this forked child, held before; -1 at the first claim. The parent may
/// continue to use it. It is called once for a process, by leafid_snowflake_open or the first id, and once for a
/// forked child, by its first call.
///
/// Returns LEAFID_OK; LEAFID_WORKER_IN_USE if none is free; or another leafid_status, or -1 for anything else, with a
/// text in `error`. The caller gets LEAFID_WORKER_LOST for a number that is not a status, and if the callback does
/// not return within timeout_ms.
///
/// The top of this header has the rules of all callbacks: on what thread they run and what they must not do.
pub type leafid_claim_fn = Option<
    unsafe extern "C" fn(
        user_data: *mut c_void,
        name: *const c_char,
        previous: i64,
        worker_id: *mut i64,
        error: *mut c_char,
        error_cap: usize,
    ) -> c_int,
>;

/// Leases of worker ids from a place that all hosts share: a database, Redis, etcd, ZooKeeper. One rule makes ids
/// unique: a granted span overlaps no other span of the same worker id. So store until_ms before you return it, lower
/// it only for release, and set the next holder's from_ms at or above it.
///
/// The top of this header has the rules of all callbacks: on what thread they run and what they must not do.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct leafid_worker_leases {
    /// sizeof(leafid_worker_leases) with which the caller was compiled.
    pub size: usize,
    /// Fills in `lease`. All fields are 0 before, except size, and worker_id, which is -1; a field that is not set
    /// keeps that value. It is called when a generator is opened (or by its first id if it is lazy), by the first
    /// call of a forked child, and after a lease was lost. Returns the same as leafid_claim_fn.
    pub claim: Option<
        unsafe extern "C" fn(
            user_data: *mut c_void,
            request: *const leafid_claim_request,
            lease: *mut leafid_lease,
            error: *mut c_char,
            error_cap: usize,
        ) -> c_int,
    >,
    /// Extends the span of `lease`, which contains the current lease without its peers, to about `until_ms`. It writes
    /// lease->until_ms, and lease_ms and token if they change; these two keep their values also if they are set to 0
    /// or emptied. An until_ms below the last one has no effect. It is called when half of the lease is over, also
    /// while no ids are made. LEAFID_WORKER_LOST means that another holder has the id: leafid claims a new one. Any other result
    /// except LEAFID_OK, and no return in time, means that the result is unknown: leafid uses the current span to its
    /// end, and repeats the call soon, with longer and longer pauses.
    pub renew: Option<
        unsafe extern "C" fn(
            user_data: *mut c_void,
            lease: *mut leafid_lease,
            until_ms: i64,
            error: *mut c_char,
            error_cap: usize,
        ) -> c_int,
    >,
    /// Releases the id when the last handle is closed: no id at or after `until_ms` was issued or will be issued. It
    /// is also called for a claim that returned too late for its caller. A failure is logged: the lease ends by
    /// itself.
    pub release: Option<
        unsafe extern "C" fn(
            user_data: *mut c_void,
            lease: *const leafid_lease,
            until_ms: i64,
            error: *mut c_char,
            error_cap: usize,
        ) -> c_int,
    >,
}

/// A callback that returns the worker id, instead of _set_worker. The record in the state directory does the rest. An
/// id that another process of this host holds is LEAFID_WORKER_IN_USE, one outside the layout
/// LEAFID_INVALID_ARGUMENT.
///
/// The same `claim` with the same `user_data` is the same option: two openings in one process share one generator.
/// `free_user_data` may be NULL.
///
/// Errors: LEAFID_INVALID_ARGUMENT if `claim` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_worker_callback(
    options: *mut leafid_snowflake_options,
    claim: leafid_claim_fn,
    user_data: *mut c_void,
    free_user_data: leafid_free_fn,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header.
    let user_data = unsafe { UserData::new(user_data, free_user_data) };
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        set_worker(options, || {
            let claim = claim.ok_or_else(|| missing("claim"))?;
            let identity = (claim as usize, user_data.pointer().addr());
            let source = WorkerSource::callback(move |request| {
                let name = text::write_c(&request.name)?;
                let mut worker_id = -1;
                let answer = call(|error, cap| {
                    // SAFETY: the header's contract of callbacks: what is passed lives until it returns.
                    claim(user_data.pointer(), name.as_ptr(), previous(request), &mut worker_id, error, cap)
                });
                match answer {
                    Ok(()) => Ok(Some(worker_id)),
                    Err(error) if error.is_bare(Code::WorkerInUse) => Ok(None),
                    Err(error) => Err(error.into_error(CLAIM)),
                }
            });
            Ok(source.with_identity(identity).into())
        })
    }
}

/// Functions that lease worker ids, instead of _set_worker. `functions` is copied. An id that another process of this
/// host holds is LEAFID_WORKER_IN_USE. An invalid lease (an id outside the layout, a span that is empty, ended or
/// more than a week ahead, a token that is not UTF-8 or has no NUL, too many peers) is refused with
/// LEAFID_INVALID_ARGUMENT or LEAFID_WORKER_LOST at a claim, and is a failure at a renewal. leafid_snowflake_stats
/// has lease_until_ms.
///
/// The same claim function with the same `user_data` is the same option: two openings in one process share one
/// generator. `free_user_data` may be NULL.
///
/// Errors: LEAFID_INVALID_ARGUMENT for a function that is NULL, or an invalid size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_worker_leases(
    options: *mut leafid_snowflake_options,
    functions: *const leafid_worker_leases,
    user_data: *mut c_void,
    free_user_data: leafid_free_fn,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header.
    let user_data = unsafe { UserData::new(user_data, free_user_data) };
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        set_worker(options, || {
            let functions = read(functions)?;
            let claim = functions.claim.ok_or_else(|| missing("claim"))?;
            let renew = functions.renew.ok_or_else(|| missing("renew"))?;
            let release = functions.release.ok_or_else(|| missing("release"))?;
            let identity = (claim as usize, user_data.pointer().addr());
            let leases = Leases { claim, renew, release, user_data };
            Ok(WorkerSource::leases(leases).with_identity(identity).into())
        })
    }
}

/// # Safety
/// `functions` is NULL or points to as many bytes as its first field says.
unsafe fn read(functions: *const leafid_worker_leases) -> Result<leafid_worker_leases> {
    // SAFETY: the first field is there by the caller's duty.
    let size = *unsafe { shared(functions.cast::<usize>(), "functions") }?;
    // A later version of the struct is longer.
    if !(size_of::<leafid_worker_leases>()..TOO_LARGE).contains(&size) {
        return Err(Error::invalid("size", size, "sizeof(leafid_worker_leases)"));
    }
    // SAFETY: as long as it says.
    unsafe { shared(functions, "functions") }.copied()
}

struct Leases {
    claim: unsafe extern "C" fn(
        *mut c_void,
        *const leafid_claim_request,
        *mut leafid_lease,
        *mut c_char,
        usize,
    ) -> c_int,
    renew: unsafe extern "C" fn(*mut c_void, *mut leafid_lease, i64, *mut c_char, usize) -> c_int,
    release: unsafe extern "C" fn(*mut c_void, *const leafid_lease, i64, *mut c_char, usize) -> c_int,
    user_data: UserData,
}

const CLAIM: &str = "the claim of a worker id";

impl WorkerLeases for Leases {
    fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
        let (name, instance) = (text::write_c(&request.name)?, text::write_c(&request.instance)?);
        let asked = leafid_claim_request {
            size: size_of::<leafid_claim_request>(),
            name: name.as_ptr(),
            instance: instance.as_ptr(),
            previous: previous(request),
            now_ms: request.now_ms,
            until_ms: request.until_ms,
        };
        let mut lease = leafid_lease::empty();
        let answer = call(|error, cap| {
            // SAFETY: the header's contract of callbacks: what is passed lives until it returns.
            unsafe { (self.claim)(self.user_data.pointer(), &asked, &mut lease, error, cap) }
        });
        match answer {
            Ok(()) => Ok(Some(lease.read()?)),
            Err(error) if error.is_bare(Code::WorkerInUse) => Ok(None),
            Err(error) => Err(error.into_error(CLAIM)),
        }
    }

    fn renew(&self, held: &Lease, until_ms: i64) -> Answer<Option<Renewal>> {
        let mut lease = leafid_lease::of(held);
        let answer = call(|error, cap| {
            // SAFETY: as of `claim`.
            unsafe { (self.renew)(self.user_data.pointer(), &mut lease, until_ms, error, cap) }
        });
        match answer {
            Ok(()) => Ok(Some(lease.renewal()?)),
            Err(error) if error.is_bare(Code::WorkerLost) => Ok(None),
            Err(error) => Err(error.into_error("the renewal of the lease")),
        }
    }

    fn release(&self, held: &Lease, until_ms: i64) -> Answer<()> {
        let lease = leafid_lease::of(held);
        let answer = call(|error, cap| {
            // SAFETY: as of `claim`.
            unsafe { (self.release)(self.user_data.pointer(), &lease, until_ms, error, cap) }
        });
        answer.map_err(|error| error.into_error("the release of the lease"))
    }
}

fn previous(request: &ClaimRequest) -> i64 {
    request.previous.map_or(-1, i64::from)
}
