//! The options for the servers or the directory of segments.

use crate::leafid_status;
use crate::segments_options::leafid_segments_options;
use crate::settings::Given::{Flag, Int, Text};
use crate::settings::{Options, change, set};
use crate::text;
use leafid::{Error, FileTag, OptionValue, Protocol, allowed};
use std::ffi::c_char;

/// The protocol of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum leafid_protocol {
    /// That of an unmodified Leaf server, in segment mode: one id per request. The default. A tag with a dot or a
    /// slash is LEAFID_INVALID_ARGUMENT, because Leaf would cut it there.
    LEAFID_PROTOCOL_LEAF = 0,
    /// Leafid's own.
    LEAFID_PROTOCOL_RANGE = 1,
    /// tinyid's.
    LEAFID_PROTOCOL_TINYID = 2,
    /// The same as LEAFID_PROTOCOL_LEAF, in snowflake mode.
    LEAFID_PROTOCOL_LEAF_SNOWFLAKE = 3,
}

/// Adds a source of segments: the URL of a server, such as "http://leaf-1:8080"; leafid prefers the first one and
/// backs off from one that fails. Or "file:DIR" alone, a directory that the processes of one host share.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_add_server(
    options: *mut leafid_segments_options,
    server: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        change(options, |options| {
            options.servers.push(text::read(server, "servers")?.to_owned());
            Ok(())
        })
    }
}

/// The protocol of the servers: a leafid_protocol. Default LEAFID_PROTOCOL_LEAF.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_protocol(
    options: *mut leafid_segments_options,
    protocol: i32,
) -> leafid_status {
    use leafid_protocol::*;
    let parsed = match protocol {
        protocol if protocol == LEAFID_PROTOCOL_LEAF as i32 => Ok(Protocol::Leaf),
        protocol if protocol == LEAFID_PROTOCOL_RANGE as i32 => Ok(Protocol::Range),
        protocol if protocol == LEAFID_PROTOCOL_TINYID as i32 => Ok(Protocol::Tinyid),
        protocol if protocol == LEAFID_PROTOCOL_LEAF_SNOWFLAKE as i32 => Ok(Protocol::LeafSnowflake),
        other => Err(Error::invalid("protocol", other, allowed("protocol"))),
    };
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        change(options, |options| options.set_value("protocol", OptionValue::Text(parsed?.name().into())))
    }
}

/// The longest duration of a request, over all servers, milliseconds, 1 to 3600000. Default 1000.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_request_timeout_ms(
    options: *mut leafid_segments_options,
    ms: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "request_timeout_ms", Int(ms)) }
}

/// The longest duration of a connection to a server, milliseconds, 1 to 3600000. Default 300.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_connect_timeout_ms(
    options: *mut leafid_segments_options,
    ms: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "connect_timeout_ms", Int(ms)) }
}

/// The number of kept-alive connections to each server, 1 to 64; with a Leaf also the number of concurrent requests,
/// for all tags together. Default 4.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_connections(
    options: *mut leafid_segments_options,
    connections: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "connections", Int(connections)) }
}

/// How many ids N one number of a Leaf stands for, 2 to 1000000: number n for n * N to (n + 1) * N - 1. Each tag must
/// then be called ...-xN, in Leaf's table too. Such a tag is refused without this option, so that all users of it
/// agree. Default: a number is an id. With other sources, 1 is your word that tags called so are no blocks of ids for
/// anybody.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_block_size(
    options: *mut leafid_segments_options,
    ids: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "block_size", Int(ids)) }
}

/// Sent to servers as "Authorization: Bearer ..."; to tinyid as its own token. Default: the environment's LEAFID_TOKEN, or
/// the file LEAFID_TOKEN_FILE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_token(
    options: *mut leafid_segments_options,
    token: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "token", Text(token)) }
}

/// Adds a header that is sent to servers with each request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_add_header(
    options: *mut leafid_segments_options,
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

/// A PEM file of certificate authorities for servers, in addition to the system's. Default: LEAFID_CA_FILE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_ca_file(
    options: *mut leafid_segments_options,
    path: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "ca_file", Text(path)) }
}

/// Adds a counter of a file:DIR source, created if missing, with `start` as its first id, 0 to 2^63 - 2, and `step`
/// ids per fetch, 1 to 16777216. An existing one continues, with this step.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_add_file_tag(
    options: *mut leafid_segments_options,
    tag: *const c_char,
    start: i64,
    step: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        change(options, |options| {
            options.tags.push((text::read(tag, "tag")?.to_owned(), FileTag { start, step }));
            Ok(())
        })
    }
}

/// Whether to create the directory of a file:DIR source if it is missing, 1 or 0. Default 0, because a lost counter
/// must not start again by itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_create(
    options: *mut leafid_segments_options,
    create: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "create", Flag(create)) }
}
