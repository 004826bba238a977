//! What a supply is of: its source, its marks, and the rules of its tags.

use super::counter_update::{CounterDirectory, NamedCounter};
use crate::call::{CLOSE_WAITS, FileAdvice};
use crate::format::unused::MachineStart;
use crate::http::HttpServers;
use crate::options::{Prewarm, Protocol, SupplyFrom, SupplyOptions, check_row_tag, check_tag};
use crate::segment::stock::Stock;
use crate::server::circuit_breaker::CallLimit;
use crate::wire::leaf::LeafMode;
use crate::{IdOrder, Result};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

/// The step if neither the user nor the source sets one: a common value in Leaf's tables.
const STEP: i64 = 1_000;
/// Tags of a Leaf that are fetched beside each other. Its requests are bounded by the connections.
const TAGS_OF_LEAF: usize = 64;
/// The number of ids to fetch in advance for a tag whose source returns them one by one.
const PREWARMED: i64 = 16;

/// A tag of one [`super::Supply`]. None is used again for another tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TagId(pub u64);

/// The valid options of a supply, and what the host knows of its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SupplySettings {
    /// What gives the ids.
    pub source: Source,
    /// The name of the source, under which its marks are stored: [`Source::name`]. Without a directory it begins with
    /// the id space and a space.
    pub source_name: String,
    /// The order of its ids.
    pub order: IdOrder,
    /// How many ids are requested at a time; `None` leaves it to the source.
    pub step: Option<i64>,
    /// Whether the step follows the use.
    pub adaptive: bool,
    /// When more than this percentage of a segment is used, the next one is fetched.
    pub prefetch: u32,
    /// Where the marks are.
    pub marks: MarkStore,
    /// What a user can do about the files of the marks.
    pub advice: FileAdvice,
    /// Whether the unused ids are stored when the supply is closed, and used at the next start.
    pub keep_unused: bool,
    /// The start of the machine to which stored unused ids belong; `None` where they cannot be stored.
    pub machine_start: Option<MachineStart>,
    /// The tags that are fetched before their first use.
    pub prewarm: Prewarm,
}

/// What gives the ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A callback of the user.
    Callback {
        /// It ends later, on the thread that asks for ids: that thread cannot wait for it.
        is_deferred: bool,
    },
    /// Counters in a directory, which the processes of one host share.
    File {
        /// The directory, as it was opened.
        directory: Arc<CounterDirectory>,
        /// How the counters of tags begin that the user named.
        tags: Vec<(String, NamedCounter)>,
    },
    /// Servers.
    Servers {
        /// In the order of the user's list.
        servers: Arc<HttpServers>,
        /// What they speak.
        dialect: Dialect,
        /// The number of requests beside each other, at least one.
        connections: usize,
    },
}

/// What the servers of a source speak.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// leafid's own dialect.
    Range {
        /// Whether a range below earlier ones is refused.
        ordered: bool,
    },
    /// tinyid, with its own token.
    Tinyid {
        /// Sent with each tag.
        token: String,
    },
    /// Leaf, which returns ids one by one.
    Leaf(LeafMode),
}

/// Where the marks of the tags are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MarkStore {
    /// In files of the state directory, or in another store that outlives the process.
    Files,
    /// In the memory of the process, which outlives the supply.
    Memory,
    /// In the supply itself: for a server, whose store gives no range twice. The store bounds its connections itself, and
    /// is asked whether it is down or not: no tag waits for another one.
    Held {
        /// How long a close gives the unused ids back to the store; `None` if they become a gap.
        gives_back: Option<Duration>,
    },
}

impl Dialect {
    const fn protocol(&self) -> Protocol {
        match self {
            Dialect::Range { .. } => Protocol::Range,
            Dialect::Tinyid { .. } => Protocol::Tinyid,
            Dialect::Leaf(LeafMode::Segment { .. }) => Protocol::Leaf,
            Dialect::Leaf(LeafMode::Snowflake) => Protocol::LeafSnowflake,
        }
    }
}

impl SupplySettings {
    /// The settings that these options mean. Where unused ids can be stored, the host adds the start of the machine.
    pub fn of(
        options: &SupplyOptions,
        source: Source,
        marks: MarkStore,
        advice: FileAdvice,
    ) -> SupplySettings {
        let source_name = match marks {
            // What all of the process shares belongs to no id space.
            MarkStore::Memory => format!("{} {}", options.name, source.name()),
            // A directory and a store do.
            MarkStore::Files | MarkStore::Held { .. } => source.name().into(),
        };
        SupplySettings {
            source,
            source_name,
            order: options.order,
            step: options.step,
            adaptive: options.adaptive,
            prefetch: options.prefetch,
            marks,
            advice,
            keep_unused: options.keep_unused,
            machine_start: None,
            prewarm: options.prewarm.clone(),
        }
    }

    /// The first step of a tag; 0 leaves it to the source.
    pub(super) fn first_step(&self) -> i64 {
        let has_step = !matches!(self.source, Source::Callback { .. }) || self.is_held();
        self.step.unwrap_or(if has_step { 0 } else { STEP })
    }

    /// The smallest request to a source that has not returned its step.
    pub(super) fn source_step(&self) -> i64 {
        // The store of a server has a step of its own for each tag, and a batch may need more.
        if self.is_held() { i64::MAX } else { STEP }
    }

    /// How many fetches run beside each other. A callback that hangs keeps no other tag waiting for long.
    pub(super) fn limit(&self) -> CallLimit {
        let limit = |few, many, slow_ms, all| CallLimit { few, many, slow_ms, all };
        match &self.source {
            _ if self.is_held() => limit(usize::MAX, usize::MAX, 1_000, usize::MAX),
            Source::Callback { is_deferred: false } => limit(4, 4, 100, 16),
            Source::Callback { is_deferred: true } => limit(4, 16, 1_000, 1_024),
            Source::File { .. } => limit(4, 4, 1_000, 16),
            Source::Servers { dialect: Dialect::Leaf(_), .. } => {
                limit(TAGS_OF_LEAF, TAGS_OF_LEAF, 1_000, usize::MAX)
            }
            Source::Servers { connections, .. } => {
                let most = (*connections).max(1);
                limit(most, most, 1_000, most.max(16))
            }
        }
    }

    /// The rules of the stock, for a source that returns ids one by one.
    pub(super) fn stock(&self) -> Option<Stock> {
        self.source.leaf().map(|_| Stock {
            most: self.step.unwrap_or(STEP) as u64,
            adaptive: self.adaptive,
            prefetch: self.prefetch.into(),
        })
    }

    /// The number of ids to fetch for a tag before its first use, if the source returns them one by one.
    pub(super) fn prewarmed(&self) -> i64 {
        self.source.leaf().map_or(0, |_| PREWARMED.min(self.step.unwrap_or(STEP)))
    }

    /// Errors: `invalid_argument` for what is no tag, or a tag that the source would confuse with another.
    pub(super) fn check_tag(&self, tag: &str) -> Result<()> {
        if self.is_held() { check_row_tag(tag) } else { self.source.check_tag(tag) }
    }

    /// Whether the supply holds its marks itself.
    pub(super) const fn is_held(&self) -> bool {
        matches!(self.marks, MarkStore::Held { .. })
    }

    /// How long a close stores the unused ids, or gives them back; `None` if it does neither.
    pub(super) fn closes_within(&self) -> Option<Duration> {
        match self.marks {
            MarkStore::Held { gives_back } => gives_back,
            MarkStore::Files | MarkStore::Memory => self.keeps_for().map(|_| CLOSE_WAITS),
        }
    }

    /// The start of the machine, if unused ids are stored.
    pub(super) fn keeps_for(&self) -> Option<&MachineStart> {
        let stores = self.keep_unused && self.marks == MarkStore::Files;
        self.machine_start.as_ref().filter(|_| stores)
    }
}

impl Source {
    /// The servers of these options, which the host has opened; `None` if the options name another source.
    pub fn of_servers(options: &SupplyOptions, servers: HttpServers) -> Option<Source> {
        let dialect = match &options.from {
            SupplyFrom::Leaf(mode, _) => Dialect::Leaf(*mode),
            SupplyFrom::Range(_) => Dialect::Range { ordered: options.order == IdOrder::Ascending },
            SupplyFrom::Tinyid(servers) => {
                Dialect::Tinyid { token: servers.token.clone().unwrap_or_default() }
            }
            SupplyFrom::Callback | SupplyFrom::File { .. } => return None,
        };
        let connections = options.from.servers()?.connections as usize;
        Some(Source::Servers { servers: Arc::new(servers), dialect, connections })
    }

    /// The kind of source: a part of the keys of its marks, which stays as it is for ever.
    pub fn name(&self) -> &str {
        match self {
            Source::Callback { .. } => "callback",
            Source::File { directory, .. } => &directory.name,
            Source::Servers { dialect, .. } => dialect.protocol().name(),
        }
    }

    /// For a source that returns ids one by one: how, and the number of requests beside each other.
    pub(super) fn leaf(&self) -> Option<(LeafMode, usize)> {
        match self {
            Source::Servers { dialect: Dialect::Leaf(mode), connections, .. } => Some((*mode, *connections)),
            _ => None,
        }
    }

    /// Whether its fetches end on the thread that asks for ids.
    pub(super) fn is_deferred(&self) -> bool {
        matches!(self, Source::Callback { is_deferred: true })
    }

    fn check_tag(&self, tag: &str) -> Result<()> {
        check_tag(tag)?;
        self.leaf().map_or(Ok(()), |(mode, _)| mode.check_tag(tag))
    }
}

/// Without the token, which is secret.
impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dialect::Range { ordered } => f.debug_struct("Range").field("ordered", ordered).finish(),
            Dialect::Tinyid { .. } => f.write_str("Tinyid"),
            Dialect::Leaf(mode) => f.debug_tuple("Leaf").field(mode).finish(),
        }
    }
}
