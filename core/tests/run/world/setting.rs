//! What does not change in a world: where its worker ids come from, its hosts and their clocks, the rules, and the kinds
//! of its faults.

use leafid_core::http::{HttpServer, HttpServers};
use leafid_core::run::Workers;
use leafid_core::server::ServersHealth;
use leafid_core::{Layout, LayoutFields, OnClockBackwards, OnExhausted, Order, Rules};
use std::sync::Arc;
use std::time::Duration;

/// Where worker ids come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ids {
    /// One fixed id, without leases.
    Fixed,
    /// A range of this number of ids.
    Range(usize),
    /// A function gives each process the same id, and leases nothing.
    Function,
    /// A user's object has this number of leased ids.
    Object(usize),
    /// A server has this number of leased ids.
    Server(usize),
}

/// What goes wrong in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A call fails, or ends wrongly.
    Call,
    /// A process is killed in the middle of a call, or between calls.
    Kill,
    /// A process is stopped while time passes.
    Stop,
    /// A clock is set, or stops.
    Clock,
    /// What was stored is lost, at the source or in the record's file.
    Loss,
    /// A machine starts again.
    Boot,
    /// A process forks.
    Fork,
    /// A caller does not wait any more, or a process closes without its server.
    Leave,
    /// A host is cut off from the server for a while, or somebody copies the files of cached leases, or deletes a record
    /// that is held.
    Cut,
}

/// Those of models.
const ALL: &[Kind] = &[Kind::Call, Kind::Kill, Kind::Stop, Kind::Clock, Kind::Loss];

/// A world before anything happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Setting {
    pub ids: Ids,
    /// Whether worker ids have records, and leases of servers are cached.
    pub persists: bool,
    /// Whether the source gives longer spans than it was asked for, and the clocks of peers are asked for.
    pub gives_more: bool,
    /// Whether each process has a host of its own, with records of its own.
    pub apart: bool,
    /// The length of a tick decides what fits into the constants of the core: a span of 0.5 to 3 s; two runs less than
    /// 60 s apart are joined; no run is longer than a year. It is the time that passes at once.
    pub tick_ms: i64,
    pub rules: Rules,
    /// How long a lease lasts, and how far a span may end after it, in ticks.
    pub lease_ticks: [i64; 2],
    /// How far the clock of each process is from the server's at the beginning, in ticks.
    pub off: [i64; 2],
    /// To what a fault sets a clock.
    pub set: &'static [i64],
    /// How long the clocks of each host say that half a second takes, in half seconds.
    pub speed: [i64; 2],
    pub kinds: &'static [Kind],
}

impl Setting {
    /// Worker ids that are leased, on one host.
    pub const fn leased(ids: Ids) -> Setting {
        let rules = Rules {
            on_clock_backwards: OnClockBackwards::Continue,
            max_backwards_ms: 3_000,
            on_exhausted: OnExhausted::Wait,
            random_start: 0,
        };
        let set = &[-2, 2];
        let (persists, gives_more) = (!matches!(ids, Ids::Server(_)), false);
        let (apart, tick_ms, off, speed, kinds) = (false, 1_000, [0, 0], [2, 2], ALL);
        let lease_ticks = [2, 1];
        Setting { ids, persists, gives_more, apart, tick_ms, rules, lease_ticks, off, set, speed, kinds }
    }

    /// Each process on its own host. The clocks of the second one are behind, and slow or fast. No clock is set besides: a
    /// lease of another time is refused and claimed again, and there is no end of such states.
    pub const fn apart(self, speed: i64) -> Setting {
        let kinds = &[Kind::Call, Kind::Kill, Kind::Stop, Kind::Loss];
        Setting { apart: true, off: [0, -1], speed: [2, speed], kinds, ..self }
    }

    /// One record on a volume that two machines share.
    pub fn of_one_record() -> Vec<Setting> {
        let mut all = Vec::new();
        for (tick_ms, max_backwards_ms, off, set) in [
            (1_000, 2_000, [0, 0], &[-3, -1, 5][..]),
            (30_000, 60_000, [0, 0], &[-2]),
            (30_000, 60_000, [0, -1], &[2]),
            (3_600_000, 3_600_000, [0, -9_000], &[]),
        ] {
            let leased = Setting::leased(Ids::Fixed);
            let rules = Rules { max_backwards_ms, ..leased.rules };
            let one = Setting { tick_ms, rules, off, set, ..leased };
            all.extend([one, Setting { rules: rules.never_ahead(), ..one }]);
        }
        all.push(Setting { rules: Rules { on_exhausted: OnExhausted::Borrow, ..all[0].rules }, ..all[0] });
        // A span has several ticks, and may meet one that a reset skipped.
        all.push(Setting { tick_ms: 200, off: [0, -1], set: &[], ..all[0] });
        all
    }

    /// One record on two machines whose clocks are so far apart that the second one comes round to the ticks before a gap
    /// in the run of the first.
    pub fn of_hours() -> Vec<Setting> {
        Setting::of_one_record()[6..8].iter().map(|world| Setting { off: [0, -3], ..*world }).collect()
    }

    /// As models have it, with all that goes wrong at random. Leases are long, so that no clock is further off.
    pub fn at_random(self, gives_more: bool) -> Setting {
        const RANDOM: &[Kind] = &[
            Kind::Call,
            Kind::Kill,
            Kind::Stop,
            Kind::Clock,
            Kind::Loss,
            Kind::Boot,
            Kind::Fork,
            Kind::Leave,
            Kind::Cut,
        ];
        Setting { gives_more, lease_ticks: [6, 10], kinds: RANDOM, ..self }
    }

    pub(crate) fn goes_wrong(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    /// To what a fault sets this clock. A leap of more than 60 s is not followed at once.
    pub(crate) fn set_at(&self, at: usize) -> impl Iterator<Item = i64> {
        let is_near = move |ticks: &i64| (ticks - self.off[at]).abs() * self.tick_ms <= 60_000;
        self.set.iter().copied().filter(is_near)
    }

    /// Whether a world in which the first and the second process change places is the same.
    pub(crate) fn is_alike(&self) -> bool {
        self.off[0] == self.off[1] && self.speed[0] == self.speed[1]
    }

    /// The number of leased worker ids.
    pub(crate) fn leased_ids(&self) -> usize {
        match self.ids {
            Ids::Fixed | Ids::Range(_) | Ids::Function => 0,
            Ids::Object(ids) | Ids::Server(ids) => ids,
        }
    }

    /// The number of processes that have worker ids at once.
    pub(crate) fn room(&self) -> usize {
        match self.ids {
            Ids::Fixed | Ids::Function => 1,
            Ids::Range(ids) | Ids::Object(ids) | Ids::Server(ids) => ids,
        }
    }

    /// Whether the lease of a server is cached.
    pub(crate) fn caches(&self) -> bool {
        self.persists && matches!(self.ids, Ids::Server(_))
    }

    pub(crate) fn workers(&self) -> Workers {
        match self.ids {
            Ids::Fixed => Workers::Within { first: 0, last: 0 },
            Ids::Range(ids) => Workers::Within { first: 0, last: ids as u32 - 1 },
            Ids::Function => Workers::Callback { leases: false },
            Ids::Object(_) => Workers::Callback { leases: true },
            Ids::Server(_) => Workers::Servers { servers: server(), health: ServersHealth::new(1) },
        }
    }

    /// One id a tick of worker ids that are leased, two of others.
    pub(crate) fn layout(&self) -> Layout {
        let (timestamp_bits, worker_bits) = (20, 2);
        let (sequence_bits, order) = (i64::from(self.leased_ids() == 0), Order::WorkerSequence);
        let tick_ms = self.tick_ms;
        let fields = LayoutFields { epoch_ms: 0, tick_ms, timestamp_bits, worker_bits, sequence_bits, order };
        Layout::new(fields).expect("at most 63 bits")
    }
}

fn server() -> Arc<HttpServers> {
    Arc::new(HttpServers {
        option: "worker",
        servers: vec![HttpServer { url: "http://leases".into(), proxy: None }],
        request_timeout: Duration::from_secs(1),
        connect_timeout: Duration::from_millis(300),
    })
}
