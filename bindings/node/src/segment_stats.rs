//! The statistics of segments in the form for JavaScript.

use leafid::Segment;
use napi::bindgen_prelude::BigInt;
use napi_derive::napi;

/// Ids that were not issued yet.
#[napi(object, object_from_js = false)]
pub struct SegmentObject {
    /// The first one.
    pub start: BigInt,
    /// The end, exclusive.
    pub end: BigInt,
    /// The distance between two ids.
    pub stride: BigInt,
}

/// A server.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct ServerStats {
    /// Its URL.
    pub url: String,
    /// Its last error.
    pub last_error: Option<String>,
}

/// A tag.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct TagStats {
    /// The tag.
    pub tag: String,
    /// The rest of the segment from which ids are issued.
    pub current: Option<SegmentObject>,
    /// The segment after it.
    pub next: Option<SegmentObject>,
    /// The number of ids in memory.
    pub left: i64,
    /// The number of ids that calls have taken or reserved.
    pub ids: i64,
    /// The step of the last fetch.
    pub step: i64,
    /// Whether a fetch is running.
    pub fetching: bool,
    /// The number of fetches that have ended.
    pub fetches: i64,
    /// The number of fetches that failed.
    pub failures: i64,
    /// The number of calls that found no id in memory.
    pub waits: i64,
    /// The number of calls that wait now.
    pub waiting: i64,
    /// The error of the last fetch.
    pub last_error: Option<String>,
}

/// The statistics of segments.
#[napi(object, object_from_js = false)]
pub struct SegmentsStats {
    /// The id space.
    pub name: String,
    /// The source of segments.
    pub source: String,
    /// The servers.
    pub servers: Vec<ServerStats>,
    /// The directory of the marks.
    pub state_dir: String,
    /// Every tag that was used.
    pub tags: Vec<TagStats>,
}

impl From<Segment> for SegmentObject {
    fn from(segment: Segment) -> SegmentObject {
        SegmentObject {
            start: segment.start().into(),
            end: segment.end().into(),
            stride: segment.stride().into(),
        }
    }
}

impl From<leafid::TagStats> for TagStats {
    fn from(stats: leafid::TagStats) -> TagStats {
        TagStats {
            tag: stats.tag,
            current: stats.current.map(SegmentObject::from),
            next: stats.next.map(SegmentObject::from),
            left: i64::try_from(stats.left).unwrap_or(i64::MAX),
            ids: stats.ids as i64,
            step: stats.step,
            fetching: stats.fetching,
            fetches: stats.fetches as i64,
            failures: stats.failures as i64,
            waits: stats.waits as i64,
            waiting: stats.waiting as i64,
            last_error: stats.last_error,
        }
    }
}

impl From<leafid::SegmentsStats> for SegmentsStats {
    fn from(stats: leafid::SegmentsStats) -> SegmentsStats {
        let server =
            |server: leafid::ServerStats| ServerStats { url: server.url, last_error: server.last_error };
        SegmentsStats {
            name: stats.name,
            source: stats.source,
            servers: stats.servers.into_iter().map(server).collect(),
            state_dir: stats.state_dir,
            tags: stats.tags.into_iter().map(TagStats::from).collect(),
        }
    }
}
