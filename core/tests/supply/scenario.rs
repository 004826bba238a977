//! What a world is of: the source, its tags, and how often things go wrong.

use crate::common::Random;
use crate::counters::Kind;
use leafid_core::IdOrder;
use leafid_core::call::FileAdvice;
use leafid_core::format::unused::MachineStart;
use leafid_core::http::{HttpServer, HttpServers};
use leafid_core::supply::{Dialect, MarkStore, Prewarm, Source, SupplySettings};
use leafid_core::wire::leaf::LeafMode;
use std::sync::Arc;
use std::time::Duration;

/// The number of requests beside each other.
pub(crate) const CONNECTIONS: usize = 3;

/// A kind of world.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) kind: Kind,
    pub(crate) tags: &'static [&'static str],
    /// The number of ids that the source gives at a time.
    pub(crate) step: i64,
    pub(crate) adaptive: bool,
    pub(crate) keeps_unused: bool,
    /// Whether tags of the last day are fetched at a start.
    pub(crate) prewarms: bool,
    /// Whether the supply holds its marks itself, as that of an id server does. Its source gives no range to two
    /// processes, so there is only one.
    pub(crate) holds_marks: bool,
    pub(crate) servers: usize,
    /// The number of processes that live at a time.
    pub(crate) processes: usize,
    /// Of a hundred steps of calls so many go wrong; drawn for each world.
    pub(crate) faults: u64,
}

/// How long a close gives ids back.
const STOPS: Duration = Duration::from_secs(5);

/// All tags of the worlds; most use the first three.
pub(crate) const TAGS: [&str; 24] = [
    "order", "user", "item", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s",
    "t", "u", "v", "w", "x",
];

impl Scenario {
    pub(crate) fn of(kind: Kind) -> Scenario {
        Scenario {
            kind,
            tags: &TAGS[..3],
            step: 6,
            adaptive: false,
            keeps_unused: false,
            prewarms: false,
            holds_marks: false,
            servers: 2,
            processes: 2,
            faults: 0,
        }
    }

    pub(crate) fn order(&self) -> IdOrder {
        match self.kind {
            Kind::Callback | Kind::Range => IdOrder::Ascending,
            Kind::Ranges | Kind::Tinyid | Kind::Leaf => IdOrder::Ranges,
        }
    }

    /// The scenario of one world.
    pub(crate) fn drawn(self, random: &mut Random) -> Scenario {
        Scenario {
            step: random.pick(&[1, 2, 6, 40]),
            faults: random.pick(&[0, 3, 10, 30]),
            adaptive: random.below(4) == 0,
            keeps_unused: random.below(2) == 0,
            prewarms: random.below(4) == 0,
            ..self
        }
    }

    /// The settings of its processes.
    pub(crate) fn settings(&self) -> SupplySettings {
        let source = match self.kind {
            Kind::Callback | Kind::Ranges => Source::Callback { is_deferred: false },
            Kind::Range => self.servers(Dialect::Range { ordered: true }),
            Kind::Tinyid => self.servers(Dialect::Tinyid { token: "secret".into() }),
            Kind::Leaf => self.servers(Dialect::Leaf(LeafMode::Segment { block_size: 1 })),
        };
        let has_step = self.kind != Kind::Tinyid;
        SupplySettings {
            source,
            source_name: "source".into(),
            order: self.order(),
            step: has_step.then_some(self.step),
            adaptive: self.adaptive,
            prefetch: 10,
            marks: match self.holds_marks {
                true => MarkStore::Held { gives_back: Some(STOPS) },
                false => MarkStore::Files,
            },
            advice: FileAdvice::StateDir,
            keep_unused: self.keeps_unused,
            machine_start: Some(MachineStart { machine: "this one".into(), boot: "this start".into() }),
            prewarm: if self.prewarms { Prewarm::LastDay } else { Prewarm::None },
        }
    }

    fn servers(&self, dialect: Dialect) -> Source {
        let server = |at| HttpServer { url: format!("http://server-{at}"), proxy: None };
        let servers = HttpServers {
            option: "servers",
            servers: (0..self.servers).map(server).collect(),
            request_timeout: Duration::from_secs(1),
            connect_timeout: Duration::from_millis(500),
        };
        Source::Servers { servers: Arc::new(servers), dialect, connections: CONNECTIONS }
    }
}
