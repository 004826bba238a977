//! What all requests share.

use super::counts::RequestCounts;
use super::monitor_leases::LeaseLooks;
use super::monitor_tags::TagLooks;
use super::rate_limits::RateLimits;
use super::tinyid_tokens::TinyidTokens;
use crate::access::Tokens;
use crate::clock::running;
use crate::dots::Dots;
use crate::holder::Holder;
use crate::leases::Leases;
use crate::options::Options;
use crate::snowflake::OwnSnowflake;
use crate::store::Store;
use crate::tags::Tags;
use leafid_core::Error;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64};
use std::time::Duration;
use tokio::sync::Semaphore;

/// The parts of a server.
pub(crate) struct App {
    pub(crate) options: Options,
    pub(crate) access: Tokens,
    pub(crate) store: Store,
    pub(crate) tags: Tags,
    pub(crate) leases: Leases,
    /// `None` if it is switched off.
    pub(crate) snowflake: Option<Arc<OwnSnowflake>>,
    /// The error of the last look at the store; `None` if it has answered. It is that of the tags' outage.
    pub(crate) store_error: Arc<Mutex<Option<Error>>>,
    /// How long that look took.
    pub(crate) store_time: Mutex<Option<Duration>>,
    /// How far its clock was ahead of this host's then.
    pub(crate) store_ahead_ms: AtomicI64,
    /// Who this server is.
    pub(crate) who: Holder,
    pub(crate) is_stopping: AtomicBool,
    /// When it began, by the running clock.
    pub(super) started: Duration,
    pub(super) counts: RequestCounts,
    pub(super) monitor_leases: Arc<LeaseLooks>,
    pub(super) monitor_tags: TagLooks,
    pub(super) tinyid_tokens: TinyidTokens,
    /// `None` without a limit.
    pub(super) rate_limits: Option<Arc<RateLimits>>,
    /// The requests at a time.
    pub(super) room: Arc<Semaphore>,
}

impl App {
    pub(crate) fn new(
        options: Options,
        access: Tokens,
        store: Store,
        leases: Leases,
        snowflake: Option<Arc<OwnSnowflake>>,
        rate_limits: Option<Arc<RateLimits>>,
        who: Holder,
    ) -> App {
        let tags = Tags::new(store.clone(), &options);
        App {
            store_error: tags.outage().seen(),
            tags,
            room: Arc::new(Semaphore::new(options.max_requests as usize)),
            rate_limits,
            store_time: Mutex::default(),
            store_ahead_ms: AtomicI64::new(0),
            who,
            is_stopping: AtomicBool::new(false),
            started: running(),
            counts: RequestCounts::default(),
            monitor_leases: Arc::default(),
            monitor_tags: TagLooks::default(),
            tinyid_tokens: TinyidTokens::default(),
            options,
            access,
            store,
            leases,
            snowflake,
        }
    }

    /// What is done with tags that have a dot.
    pub(crate) fn dots(&self) -> Dots {
        Dots::of(&self.options)
    }
}
