//! Every thread of leafid's: what runs on it, and for how long at most.

pub(crate) mod fetch_pool;
pub(crate) mod interrupt;
pub(crate) mod renewal_timer;
pub(crate) mod user_calls;
pub(crate) mod with_timeout;
