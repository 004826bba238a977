//! The codes of all errors: the same in every language, each with a permanent number.

/// The kind of an error. Names and numbers never change. The table is `tests/vectors/errors.json`.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i32)]
pub enum Code {
    /// An option or an argument is not of the allowed kind or outside the allowed values.
    InvalidArgument = 1,
    /// The clock is further behind the last id than the bound allows.
    ClockBackwards = 2,
    /// The clock, or the requested time, is before the layout's epoch.
    BeforeEpoch = 3,
    /// The layout's timestamp bits are used up.
    TimeExhausted = 4,
    /// Another generator holds the worker id, or every id of the range.
    WorkerInUse = 5,
    /// This generator no longer holds the worker id.
    WorkerLost = 6,
    /// The state directory or file cannot be read, written or locked.
    StateIo = 7,
    /// The state file is damaged or not leafid's.
    StateCorrupt = 8,
    /// The state file was written with another layout or epoch.
    StateMismatch = 9,
    /// The source of segments does not know the tag.
    UnknownTag = 10,
    /// No segment arrived in time.
    SegmentUnavailable = 11,
    /// The source returned ids that it had returned before.
    SegmentRegressed = 12,
    /// The source's response is not valid.
    SourceInvalid = 13,
    /// The call would have to wait where waiting is not allowed.
    WouldBlock = 14,
    /// The handle was closed.
    Closed = 15,
    /// A defect in leafid.
    Internal = 16,
}

impl Code {
    /// Every code, by number.
    pub const ALL: [Code; 16] = [
        Code::InvalidArgument,
        Code::ClockBackwards,
        Code::BeforeEpoch,
        Code::TimeExhausted,
        Code::WorkerInUse,
        Code::WorkerLost,
        Code::StateIo,
        Code::StateCorrupt,
        Code::StateMismatch,
        Code::UnknownTag,
        Code::SegmentUnavailable,
        Code::SegmentRegressed,
        Code::SourceInvalid,
        Code::WouldBlock,
        Code::Closed,
        Code::Internal,
    ];

    /// The permanent number, from 1. In C, 0 is success.
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// The code with this number.
    pub fn from_number(number: i32) -> Option<Code> {
        Code::ALL.into_iter().find(|code| code.number() == number)
    }

    /// The name, in snake case: `clock_backwards`.
    pub const fn name(self) -> &'static str {
        match self {
            Code::InvalidArgument => "invalid_argument",
            Code::ClockBackwards => "clock_backwards",
            Code::BeforeEpoch => "before_epoch",
            Code::TimeExhausted => "time_exhausted",
            Code::WorkerInUse => "worker_in_use",
            Code::WorkerLost => "worker_lost",
            Code::StateIo => "state_io",
            Code::StateCorrupt => "state_corrupt",
            Code::StateMismatch => "state_mismatch",
            Code::UnknownTag => "unknown_tag",
            Code::SegmentUnavailable => "segment_unavailable",
            Code::SegmentRegressed => "segment_regressed",
            Code::SourceInvalid => "source_invalid",
            Code::WouldBlock => "would_block",
            Code::Closed => "closed",
            Code::Internal => "internal",
        }
    }

    /// Whether the same call can succeed later without a change by hand.
    pub const fn can_retry(self) -> bool {
        matches!(
            self,
            Code::ClockBackwards
                | Code::WorkerInUse
                | Code::WorkerLost
                | Code::StateIo
                | Code::SegmentUnavailable
                | Code::WouldBlock
        )
    }
}
