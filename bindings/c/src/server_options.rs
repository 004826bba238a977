//! The options for the lease servers whose URLs are in a snowflake's worker.

use crate::leafid_status;
use crate::options::leafid_snowflake_options;
use crate::settings::Given::{Int, Text};
use crate::settings::{change, set};
use crate::text;
use std::ffi::c_char;

/// Sent to lease servers as "Authorization: Bearer ...". Default: the environment's LEAFID_TOKEN, or the file
/// LEAFID_TOKEN_FILE. This, headers, the file of certificate authorities and the time-outs of requests and
/// connections need a worker that is a URL: leafid_snowflake_open refuses them with any other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_token(
    options: *mut leafid_snowflake_options,
    token: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "token", Text(token)) }
}

/// Adds a header that is sent to lease servers with each request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_add_header(
    options: *mut leafid_snowflake_options,
    name: *const c_char,
    value: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        change(options, |options| {
            let header = (text::read(name, "headers")?.to_owned(), text::read(value, "headers")?.to_owned());
            options.headers.push(header);
            Ok(())
        })
    }
}

/// A PEM file of certificate authorities for lease servers, in addition to the system's. Default: LEAFID_CA_FILE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_ca_file(
    options: *mut leafid_snowflake_options,
    path: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "ca_file", Text(path)) }
}

/// The longest duration of a claim, renewal or release, over all lease servers, milliseconds, 1 to 3600000. Default
/// 1000.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_request_timeout_ms(
    options: *mut leafid_snowflake_options,
    ms: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "request_timeout_ms", Int(ms)) }
}

/// The longest duration of a connection to a lease server, milliseconds, 1 to 3600000. Default 300.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_options_set_connect_timeout_ms(
    options: *mut leafid_snowflake_options,
    ms: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "connect_timeout_ms", Int(ms)) }
}
