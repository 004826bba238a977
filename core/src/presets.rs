//! The layouts with a name.

use crate::{Layout, Order};

impl Layout {
    /// Leaf and Twitter's Snowflake: 41 bits of milliseconds since 2010-11-04, 10 of worker id, 12 of sequence.
    pub const LEAF: Layout = Layout::preset(1_288_834_974_657, 1, 41, 10, 12, Order::WorkerSequence);
    /// Baidu's uid-generator: 28 bits of seconds since 2016-05-19, 22 of worker id, 13 of sequence. Ended on
    /// 2024-11-20.
    pub const UID_GENERATOR: Layout =
        Layout::preset(1_463_673_600_000, 1_000, 28, 22, 13, Order::WorkerSequence);
    /// Yitter: 51 bits of milliseconds since 2020-02-19, 6 of worker id, 6 of sequence.
    pub const YITTER: Layout = Layout::preset(1_582_136_402_000, 1, 51, 6, 6, Order::WorkerSequence);
    /// Sonyflake: 39 bits of 10 ms since 2014-09-01, then 8 of sequence, 16 of worker id.
    pub const SONYFLAKE: Layout = Layout::preset(1_409_529_600_000, 10, 39, 16, 8, Order::SequenceWorker);
    /// 53 bits, exact as a JavaScript number: 41 bits of milliseconds since 2010-11-04, 3 of worker id, 9 of sequence.
    pub const JS_SAFE: Layout = Layout::preset(1_288_834_974_657, 1, 41, 3, 9, Order::WorkerSequence);

    /// The presets by name.
    pub const PRESETS: [(&'static str, Layout); 5] = [
        ("leaf", Layout::LEAF),
        ("uid-generator", Layout::UID_GENERATOR),
        ("yitter", Layout::YITTER),
        ("sonyflake", Layout::SONYFLAKE),
        ("js-safe", Layout::JS_SAFE),
    ];
}
