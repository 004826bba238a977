//! How long those who open wait for the disk.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | off | the disk is asked for something that an opening waits for | on |
//! | on | the disk is asked for another part of it | on: with the time of that part |
//! | on | no opening waits for the disk any more | off |
//! | on | its time is over | off: an error for those who wait |

use crate::aside::Aside;
use crate::run::moment::Moment;
use crate::spelling::name::TIMEOUT_MS;
use crate::{Code, Error};
use alloc::format;
use core::time::Duration;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct DiskTime {
    since: Aside<Duration>,
    by: Option<Duration>,
}

impl DiskTime {
    pub(crate) fn begin(&mut self, bound: Duration, m: &Moment<'_>) {
        (self.since, self.by) = (Aside(m.boot), Some(m.boot.saturating_add(bound)));
    }

    pub(crate) fn stop(&mut self) {
        self.by = None;
    }

    /// When it is over.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.by
    }

    /// The error, once, when it is over.
    pub(crate) fn overdue(&mut self, m: &Moment<'_>) -> Option<Error> {
        let by = self.by.take_if(|by| m.boot >= *by)?;
        let (place, waited) = (&m.place.directory, by.saturating_sub(self.since.0).as_millis() as u64);
        let message =
            format!("{place} did not answer within {waited} ms; see the disk, or raise {TIMEOUT_MS}");
        Some(Error::new(Code::StateIo, message))
    }
}
