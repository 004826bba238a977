//! Which ids of its counters a store gives. Regions with a store each share the tags by it: no id of one is an id of
//! another.

use leafid_core::{Code, Error, Result, Segment};

/// The ids that leave `remainder` when they are divided by `stride`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stride {
    stride: i64,
    remainder: i64,
}

impl Stride {
    /// Errors: `invalid_argument`.
    pub(crate) fn new(stride: u32, remainder: u32) -> Result<Stride> {
        if remainder >= stride {
            let allowed = format!("0 to {}, for the stride is {stride}", i64::from(stride) - 1);
            return Err(Error::invalid("remainder", remainder, &allowed));
        }
        Ok(Stride { stride: stride.into(), remainder: remainder.into() })
    }

    /// How much `step` ids of a tag take of its counter. Errors: `source_invalid`.
    pub(super) fn width(self, step: i64, tag: &str) -> Result<i64> {
        step.checked_mul(self.stride).ok_or_else(|| out_of_ids(tag))
    }

    /// The ids from `start` to `end`, which is exclusive. Errors: `source_invalid`.
    pub(super) fn segment(self, start: i64, end: i64) -> Result<Segment> {
        let ahead = (i128::from(self.remainder) - i128::from(start)).rem_euclid(self.stride.into());
        // Below the stride, and so within an i64.
        Segment::new(start.saturating_add(ahead as i64), end, self.stride)
    }
}

pub(super) fn out_of_ids(tag: &str) -> Error {
    Error::new(
        Code::SourceInvalid,
        format!("the counter of {tag:?} is at the end of 63 bits, or of its column; use another tag"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_of_n_strides_has_n_ids_of_each_remainder() -> Result<()> {
        for stride in [1, 2, 3, 7] {
            for start in [0, 1, 2, 999, i64::MAX - 70] {
                let (mut all, width) = (Vec::new(), i64::from(stride));
                for remainder in 0..stride {
                    let segment = Stride::new(stride, remainder)?.segment(start, start + 10 * width)?;
                    assert_eq!(segment.len(), 10, "{stride} {remainder} {start}");
                    for id in (0..10).filter_map(|n| segment.id(n)) {
                        assert_eq!(id % width, i64::from(remainder));
                        all.push(id);
                    }
                }
                all.sort_unstable();
                assert!(all.into_iter().eq(start..start + 10 * width), "{stride} {start}");
            }
        }
        Ok(())
    }

    #[test]
    fn what_has_no_id_is_refused() -> Result<()> {
        assert_eq!(
            Stride::new(3, 3).map(drop).unwrap_err().message(),
            "remainder is 3; allowed: 0 to 2, for the stride is 3"
        );
        let third = Stride::new(3, 2)?;
        for (start, end) in [(3, 5), (5, 5), (-9, -3), (i64::MAX - 1, i64::MAX), (i64::MIN, i64::MAX)] {
            assert!(third.segment(start, end).is_err(), "{start} {end}");
        }
        Ok(())
    }
}
