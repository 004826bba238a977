//! The options that say which servers, or which directory, segments come from.

use crate::leafid_status;
use crate::segments_options::{leafid_segments_options, set};
use crate::settings::flag;
use crate::text;
use leafid::{Error, FileTag, Protocol, allowed};
use std::ffi::c_char;

/// What servers speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum leafid_protocol {
    /// An unmodified Leaf server's: its segment mode, one id a request. The default. A tag with a dot or a slash is
    /// LEAFID_INVALID_ARGUMENT, for Leaf would cut it there.
    LEAFID_PROTOCOL_LEAF = 0,
    /// Leafid's own.
    LEAFID_PROTOCOL_RANGE = 1,
    /// tinyid's.
    LEAFID_PROTOCOL_TINYID = 2,
    /// As LEAFID_PROTOCOL_LEAF, of its snowflake mode.
    LEAFID_PROTOCOL_LEAF_SNOWFLAKE = 3,
}

/// Adds where segments come from: the URL of a server, as in "http://leaf-1:8080", of which the first is preferred and
/// one that fails rests; or "file:DIR" alone, a directory that processes of one host share.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_add_server(
    options: *mut leafid_segments_options,
    server: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        set(options, |wanted| {
            wanted.servers.push(text::read(server, "servers")?.to_owned());
            Ok(())
        })
    }
}

/// What the servers speak: a leafid_protocol. Default LEAFID_PROTOCOL_LEAF.
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
        set(options, |wanted| {
            let protocol = parsed?;
            wanted.change(|builder| builder.protocol(protocol))
        })
    }
}

/// How long a request to a server may last, milliseconds, 1 to 3600000. Default 1000.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_request_timeout_ms(
    options: *mut leafid_segments_options,
    ms: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |wanted| wanted.change(|builder| builder.request_timeout_ms(ms))) }
}

/// How long a server may take to accept a connection, milliseconds, 1 to 3600000. Default 300.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_connect_timeout_ms(
    options: *mut leafid_segments_options,
    ms: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |wanted| wanted.change(|builder| builder.connect_timeout_ms(ms))) }
}

/// How many connections to each server are kept alive, 1 to 64; of a Leaf also how many requests are under way at
/// a time, for all tags together. Default 4.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_connections(
    options: *mut leafid_segments_options,
    connections: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |wanted| wanted.change(|builder| builder.connections(connections))) }
}

/// Ids that one number of a Leaf stands for, 2 to 1000000: number n for n * N to (n + 1) * N - 1. Each tag must be
/// called ...-xN then, in Leaf's table too, and is not used otherwise, so that all who read it agree. Default: a number
/// is an id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_block_size(
    options: *mut leafid_segments_options,
    ids: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |wanted| wanted.change(|builder| builder.block_size(ids))) }
}

/// Sent to servers as "Authorization: Bearer ..."; to tinyid as its own token.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_token(
    options: *mut leafid_segments_options,
    token: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        set(options, |wanted| {
            let token = text::read(token, "token")?;
            wanted.change(|builder| builder.token(token))
        })
    }
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
        set(options, |wanted| {
            let header = (text::read(name, "headers")?.to_owned(), text::read(value, "headers")?.to_owned());
            wanted.headers.push(header);
            Ok(())
        })
    }
}

/// A PEM file of certificate authorities that servers may be signed by, besides the system's own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_ca_file(
    options: *mut leafid_segments_options,
    path: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        set(options, |wanted| {
            let path = text::read(path, "ca_file")?;
            wanted.change(|builder| builder.ca_file(path))
        })
    }
}

/// Adds a tag of a file:DIR source, made if it is not there yet: with `start` as its first id, 0 to 2^63 - 2, and
/// `step` ids a fetch, 1 to 16777216. One that is there goes on, with the step that is said here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_add_file_tag(
    options: *mut leafid_segments_options,
    tag: *const c_char,
    start: i64,
    step: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        set(options, |wanted| {
            wanted.tags.push((text::read(tag, "tag")?.to_owned(), FileTag { start, step }));
            Ok(())
        })
    }
}

/// Whether the directory of a file:DIR source is made if it is missing, 1 or 0. Default 0: a counter that is lost must
/// not begin anew by itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_create(
    options: *mut leafid_segments_options,
    create: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        set(options, |wanted| {
            let create = flag("create", create)?;
            wanted.change(|builder| builder.create(create))
        })
    }
}
