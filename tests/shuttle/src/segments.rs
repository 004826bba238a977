//! The segments as they ship; what opens files and talks to servers is in the folder beside this file.

#[path = "../../../bindings/rust/src/segments/call.rs"]
pub(crate) mod call;
#[path = "../../../bindings/rust/src/segments/handle.rs"]
pub(crate) mod handle;
pub(crate) mod high_water;
pub(crate) mod open;
#[path = "../../../bindings/rust/src/segments/reserved_run.rs"]
pub(crate) mod reserved_run;
pub(crate) mod settings;
#[path = "../../../bindings/rust/src/segments/shared.rs"]
pub(crate) mod shared;
#[path = "../../../bindings/rust/src/segments/stats.rs"]
pub(crate) mod stats;
// rustfmt looks for its tests.
#[rustfmt::skip]
#[path = "../../../bindings/rust/src/segments/supply_driver.rs"]
pub(crate) mod supply_driver;
#[path = "../../../bindings/rust/src/segments/tag.rs"]
pub(crate) mod tag;
#[path = "../../../bindings/rust/src/segments/tag_calls.rs"]
pub(crate) mod tag_calls;

pub(crate) mod source {
    #[path = "../../../../../bindings/rust/src/segments/source/callback.rs"]
    pub(crate) mod callback;
    #[path = "../../../../../bindings/rust/src/segments/source/completion.rs"]
    pub(crate) mod completion;
    #[path = "../../../../../bindings/rust/src/segments/source/fetch_request.rs"]
    pub(crate) mod fetch_request;
    pub(crate) mod host_source;
}
