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
    /// A user's object has this number of leased ids.
    Object(usize),
    /// A server has this number of leased ids. Nothing is recorded.
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
}

/// All of them.
const ALL: &[Kind] = &[Kind::Call, Kind::Kill, Kind::Stop, Kind::Clock, Kind::Loss];

/// A world before anything happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Setting {
    pub ids: Ids,
    /// Whether each process has a host of its own, with records of its own.
    pub apart: bool,
    /// The length of a tick decides what fits into the constants of the core: a span of 0.5 to 3 s; two runs less than
    /// 60 s apart are joined; no run is longer than a year. It is the time that passes at once.
    pub tick_ms: i64,
    pub rules: Rules,
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
        Setting { ids, apart: false, tick_ms: 1_000, rules, off: [0, 0], set, speed: [2, 2], kinds: ALL }
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

    pub(super) fn goes_wrong(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    /// To what a fault sets this clock. A leap of more than 60 s is not followed at once.
    pub(super) fn set_at(&self, at: usize) -> impl Iterator<Item = i64> {
        let is_near = move |ticks: &i64| (ticks - self.off[at]).abs() * self.tick_ms <= 60_000;
        self.set.iter().copied().filter(is_near)
    }

    /// Whether a world in which the first and the second process change places is the same.
    pub(super) fn is_alike(&self) -> bool {
        self.off[0] == self.off[1] && self.speed[0] == self.speed[1]
    }

    /// The number of leased worker ids.
    pub(super) fn leased_ids(&self) -> usize {
        match self.ids {
            Ids::Fixed => 0,
            Ids::Object(ids) | Ids::Server(ids) => ids,
        }
    }

    /// Whether records are kept. What the disk adds to leases is tried with a user's object.
    pub(super) fn persists(&self) -> bool {
        !matches!(self.ids, Ids::Server(_))
    }

    pub(super) fn workers(&self) -> Workers {
        match self.ids {
            Ids::Fixed => Workers::Within { first: 0, last: 0 },
            Ids::Object(_) => Workers::Callback { leases: true },
            Ids::Server(_) => Workers::Servers { servers: server(), health: ServersHealth::new(1) },
        }
    }

    /// Two ids a tick of the worker id that is fixed, one of those that are leased.
    pub(super) fn layout(&self) -> Layout {
        let (timestamp_bits, worker_bits) = (20, 2);
        let (sequence_bits, order) = (i64::from(self.ids == Ids::Fixed), Order::WorkerSequence);
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
