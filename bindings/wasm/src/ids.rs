//! The memory of ids.

use crate::module::Single;
use leafid_core::Run;
#[cfg(feature = "segments")]
use leafid_core::Segment;

/// How many ids one call returns at most.
pub(crate) const MOST_IDS: usize = 4096;

/// Apart from the rest, because what is zero needs no place in the module's file.
static IDS: Single<[i64; MOST_IDS]> = Single::new([0; MOST_IDS]);

/// The memory of ids, for one call.
#[inline(always)]
pub(crate) fn with_ids(call: impl FnOnce(&mut [i64; MOST_IDS])) {
    // SAFETY: there is one thread. A call of an export contains no other one, and no closure given here calls `with_ids`.
    call(unsafe { &mut *IDS.get() });
}

/// Writes the ids of a run to the front of `ids`, four in each round of the loop. In WebAssembly without SIMD that is
/// faster than `Run::write`.
pub(crate) fn write_run(run: &Run, ids: &mut [i64]) {
    // They wrap only behind the last id.
    let steps = [0, 1, 2, 3].map(|step| run.stride.wrapping_mul(step));
    let mut id = run.first;
    let room = ids.len().min(run.count);
    for round in ids[..room].chunks_mut(steps.len()) {
        match round {
            [first, second, third, fourth] => {
                *first = id;
                *second = id.wrapping_add(steps[1]);
                *third = id.wrapping_add(steps[2]);
                *fourth = id.wrapping_add(steps[3]);
            }
            rest => rest.iter_mut().zip(steps).for_each(|(slot, step)| *slot = id.wrapping_add(step)),
        }
        id = id.wrapping_add(run.stride.wrapping_mul(4));
    }
}

/// The segments as triples of start, end and stride, in the memory of ids; returns their number.
#[cfg(feature = "segments")]
pub(crate) fn write_segments(segments: impl IntoIterator<Item = Segment>) -> i32 {
    let mut count = 0;
    with_ids(|ids| {
        for (place, segment) in ids.chunks_exact_mut(3).zip(segments) {
            place.copy_from_slice(&[segment.start(), segment.end(), segment.stride()]);
            count += 1;
        }
    });
    count
}

/// The address of the answer's ids, which never changes.
#[unsafe(no_mangle)]
extern "C" fn ids() -> i32 {
    IDS.get() as i32
}
