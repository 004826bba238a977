//! How a call will end, drawn before it begins.

use crate::common::Random;

/// Times are milliseconds from the call's beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// When it has its effect; `None`: never.
    pub(crate) effect_in: Option<u64>,
    /// When the host reports its end; `None`: never, or when the world turns kind.
    pub(crate) end_in: Option<u64>,
    /// Whether it ends as failed.
    pub(crate) fails: bool,
    /// Whether what was written is half of it. Only of a write that fails.
    pub(crate) torn: bool,
    /// Whether the end is reported a second time.
    pub(crate) twice: bool,
}

/// The longest time that a call is late.
const LATEST_MS: u64 = 20_000;

impl Plan {
    pub(crate) fn well(random: &mut Random) -> Plan {
        let effect = random.below(5);
        let end = effect + random.below(10);
        Plan { effect_in: Some(effect), end_in: Some(end), fails: false, torn: false, twice: false }
    }

    /// Of a world that is not kind. Most calls end well all the same, or nothing would ever happen.
    pub(crate) fn any(random: &mut Random) -> Plan {
        let mut plan = Plan::well(random);
        match random.below(100) {
            0..70 => {}
            70..78 => plan.delay(random.below(800), random.below(800)),
            78..84 => plan.delay(random.below(LATEST_MS / 2), random.below(LATEST_MS / 2)),
            84..88 => {
                (plan.fails, plan.effect_in) = (true, None);
                plan.delay(0, random.below(2_500));
            }
            88..92 => {
                (plan.fails, plan.torn) = (true, random.below(3) == 0);
                plan.delay(random.below(500), random.below(2_500));
            }
            92..94 => (plan.effect_in, plan.end_in) = (None, None),
            94..97 => plan.end_in = None,
            _ => {}
        }
        plan.twice = random.below(12) == 0;
        plan
    }

    fn delay(&mut self, effect: u64, end: u64) {
        self.effect_in = self.effect_in.map(|at| at + effect);
        self.end_in = self.end_in.map(|at| at + effect + end);
    }
}
