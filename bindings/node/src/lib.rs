//! The Node binding: what `node/lib` calls. It holds no logic: JavaScript values in, a call of the host, values out.
//!
//! The class the user sees lives in JavaScript, since a method of a native class costs ten times a closure. Numbers
//! arrive here as safe integers, absent options as `undefined`: `node/lib/options.js` sees to that. A failure is thrown
//! as an `Error` whose `code` is the name of the code; `node/lib/errors.js` makes a `LeafidError` of it.

mod error;
mod exit;
mod id;
mod options;
mod snowflake;

pub use error::{CodeRow, codes, refuse};
pub use id::{Parts, compose, decode};
pub use options::{Fields, LayoutArgument, Options, WorkerRange};
pub use snowflake::{Stats, open};

/// The version of this addon: that of the whole project.
#[napi_derive::napi(catch_unwind)]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
