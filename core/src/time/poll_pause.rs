//! Pauses between polls of something that most often comes soon. After a failure, [`crate::BackOff`] decides.

use core::time::Duration;

/// The pauses of one wait: each is half as long again as the one before, up to a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PollPause {
    next: Duration,
    longest: Duration,
}

impl PollPause {
    /// For a thread that can do nothing else. The first pauses are short, because most waits take a fraction of a
    /// millisecond.
    pub const fn of_thread() -> PollPause {
        PollPause { next: Duration::from_micros(30), longest: Duration::from_millis(5) }
    }

    /// For one of many waits in one event loop, where each poll costs the others time.
    pub const fn of_event_loop() -> PollPause {
        PollPause { next: Duration::from_micros(500), longest: Duration::from_millis(20) }
    }

    /// The next pause.
    pub fn next_pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 3 / 2).min(self.longest);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_their_bound() {
        for (mut pauses, first, second, longest) in
            [(PollPause::of_thread(), 30, 45, 5_000), (PollPause::of_event_loop(), 500, 750, 20_000)]
        {
            assert_eq!((pauses.next_pause().as_micros(), pauses.next_pause().as_micros()), (first, second));
            assert_eq!((0..20).map(|_| pauses.next_pause().as_micros()).max(), Some(longest));
        }
    }
}
