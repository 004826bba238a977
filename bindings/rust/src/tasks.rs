//! Every thread of leafid: what runs on it, and the longest time that it may run.

pub(crate) mod fetch_pool;
pub(crate) mod interrupt;
pub(crate) mod renewal_timer;
pub(crate) mod user_calls;
pub(crate) mod with_timeout;
