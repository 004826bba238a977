//! The options for the record.

use crate::leafid_status;
use crate::options::leafid_snowflake_options;
use crate::settings::Given::{Flag, Int};
use crate::settings::set;

/// Whether to store a record from which the next start continues: 1 or 0. Default 1. 0 gives up restart safety: a
/// start whose clock is behind the last id repeats ids. 0 is refused with a range. With 0 and without a lease, ids
/// never run ahead of the clock. The state directory is not used then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_persist(
    options: *mut leafid_snowflake_options,
    persist: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "persist", Flag(persist)) }
}

/// Whether the state directory may be on a network file system, 1 or 0. Its locks must work between all hosts that
/// use it. Default 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_shared_fs(
    options: *mut leafid_snowflake_options,
    shared_fs: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "shared_fs", Flag(shared_fs)) }
}

/// Whether the members of one group share the state directory, 1 or 0. Files are then created with mode 0660,
/// whatever the umask, and directories with 2770. Files with secrets stay private to their owner. Default
/// LEAFID_SHARED_GROUP, else 0: 0640 and 0750 less the umask.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_shared_group(
    options: *mut leafid_snowflake_options,
    shared_group: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "shared_group", Flag(shared_group)) }
}

/// Your statement that no other container or host has this range of worker ids, or that all that have it share the
/// state directory: 1 or 0. Without it a range is refused where leafid cannot see that the other processes of the
/// machine see which ids are held: in a container, or in a separate network namespace. Default
/// LEAFID_EXCLUSIVE_RANGE, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_exclusive_range(
    options: *mut leafid_snowflake_options,
    exclusive: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "exclusive_range", Flag(exclusive)) }
}

/// How long a start that finds no record of its worker id issues nothing, milliseconds by the clock. Set it to how
/// far the clock of another host that used the worker id before may be ahead. Meanwhile calls are
/// LEAFID_CLOCK_BACKWARDS if the rest is longer than the timeout. Refused with leases, which need no wait. 0 to
/// 3600000; default LEAFID_NO_RECORD_WAIT_MS, else 0: off.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_no_record_wait_ms(
    options: *mut leafid_snowflake_options,
    ms: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "no_record_wait_ms", Int(ms)) }
}

/// Whether the worker id is claimed at the first id and not by leafid_snowflake_open, 1 or 0. Default 0. Errors of
/// the claim are then errors of that call. leafid_snowflake_open still checks the options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_lazy(
    options: *mut leafid_snowflake_options,
    lazy: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "lazy", Flag(lazy)) }
}
