//! No marks are kept here: the sources of the models repeat nothing.

use leafid_core::{Error, Result, Segment};
use smallvec::SmallVec;

pub(crate) struct Accepted {
    pub(crate) segments: SmallVec<[Segment; 1]>,
    pub(crate) refused: Option<Error>,
}

pub(crate) struct HighWaterMarks;

impl HighWaterMarks {
    pub(crate) fn after(&self, _tag: &str) -> Result<i64> {
        Ok(0)
    }

    pub(crate) fn accept(&self, _tag: &str, segments: &[Segment], _after: i64) -> Result<Accepted> {
        Ok(Accepted { segments: segments.into(), refused: None })
    }

    pub(crate) fn take_unused(&self, _tag: &str) -> Result<Vec<Segment>> {
        Ok(Vec::new())
    }

    pub(crate) fn keep_unused(&self, _tag: &str, _rest: &[Segment]) -> Result<()> {
        Ok(())
    }
}
