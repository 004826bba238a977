//! A generator as plain data: the calls that changed it.

use leafid_core::{Action, Layout, Rules, Snowflake, Span};

/// The core's generator has atomics, which can be neither copied nor compared. So it is made again from these calls for
/// each new one. By its contract a call that issues no id changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Generator {
    layout: Layout,
    rules: Rules,
    worker_id: u32,
    from: u64,
    calls: Vec<Call>,
    /// The last id; -1 before the first.
    pub last: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Call {
    Grant(Span),
    Next(i64),
    Seal,
}

impl Generator {
    pub fn new(layout: Layout, rules: Rules, worker_id: u32, from: u64) -> Generator {
        Generator { layout, rules, worker_id, from, calls: Vec::new(), last: -1 }
    }

    pub fn grant(&mut self, span: Span) {
        // A span that continues the last one changes no earlier call, so that fewer states differ.
        let last = self.calls.iter_mut().rev().find_map(|call| match call {
            Call::Grant(last) => Some(last),
            Call::Next(_) | Call::Seal => None,
        });
        match last {
            Some(last) if last.until == span.from => last.until = span.until,
            _ => self.calls.push(Call::Grant(span)),
        }
    }

    pub fn next(&mut self, now_ms: i64) -> Result<i64, Action> {
        let id = self.real().next(now_ms)?;
        self.calls.push(Call::Next(now_ms));
        self.last = id;
        Ok(id)
    }

    /// The first tick without an id. Only for a generator that was not sealed.
    pub fn first_unused(&self) -> u64 {
        self.real().first_unused().expect("it was not sealed")
    }

    /// The first tick without an id; `None` if it was sealed before.
    pub fn seal(&mut self) -> Option<u64> {
        let first_unused = self.real().seal();
        self.calls.push(Call::Seal);
        first_unused
    }

    fn real(&self) -> Snowflake {
        let real = Snowflake::new(self.layout, self.rules, self.worker_id, self.from, 0);
        for call in &self.calls {
            match *call {
                Call::Grant(span) => real.grant(span),
                Call::Next(now_ms) => drop(real.next(now_ms)),
                Call::Seal => drop(real.seal()),
            }
        }
        real
    }
}
