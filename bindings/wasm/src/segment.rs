//! Segments: the buffer of a tag, what waits for room in it, and the guard against ids that a source repeats.

use crate::machine::Buffer;
use crate::module::{MOST_IDS, Module, call, optional, with, with_ids};
use leafid_core::{DoubleBuffer, Empty, Error, Guard, IdOrder, PendingSegments, Result, Segment, options};

/// Both segments are used up: fetch, then call again.
const USED_UP: i32 = -103;

/// The segments as triples of start, end and stride, in the memory of ids; returns their number. Segments beyond that
/// memory are left out.
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

/// Checks the tag's name.
#[unsafe(no_mangle)]
extern "C" fn tag_check(length: i32) -> i32 {
    call(|module| {
        let [tag] = module.texts([length])?;
        options::check_tag(tag).map(|()| 0)
    })
}

/// An empty buffer.
#[unsafe(no_mangle)]
extern "C" fn buffer_new() -> i32 {
    let (ids, filler) = DoubleBuffer::new();
    with(|module| module.add(Buffer { ids, filler }))
}

/// Adds a segment; 0 if there is no room for it. When more than `prefetch` percent of it are used, the next one is to
/// be fetched; NaN is the default.
#[unsafe(no_mangle)]
extern "C" fn buffer_offer(buffer: i32, start: i64, end: i64, stride: i64, prefetch: f64) -> i32 {
    call(|module| {
        let segment = Segment::new(start, end, stride)?;
        let prefetch = options::prefetch(optional("prefetch", prefetch)?)?;
        let Buffer { ids, filler } = module.get_mut(buffer)?;
        Ok(ids.offer(filler, segment, prefetch).is_ok().into())
    })
}

fn without_id<T: crate::module::Returned>(module: &mut Module, empty: Empty) -> T {
    match empty {
        Empty::UsedUp => T::negative(USED_UP),
        Empty::Sealed => {
            module.fail(&Error::new(leafid_core::Code::Closed, "the tag was closed; open another one"))
        }
    }
}

/// The next id. The answer is 1 if the next segment is to be fetched now.
#[unsafe(no_mangle)]
extern "C" fn buffer_take(buffer: i32) -> i64 {
    with(|module| match module.get::<Buffer>(buffer).map(|buffer| buffer.ids.take()) {
        Ok(Ok((id, fetch))) => {
            module.answer(&[u8::from(fetch).into()]);
            id
        }
        Ok(Err(empty)) => without_id(module, empty),
        Err(error) => module.fail(&error),
    })
}

/// The next ids of one segment, at most `most`, and their number; the answer as of `buffer_take`. `later`: the ids are
/// issued later, one by one. Then the one that is to fetch the next segment is the first of its run.
#[unsafe(no_mangle)]
extern "C" fn buffer_reserve(buffer: i32, most: i32, later: i32) -> i32 {
    with(|module| {
        let most = most.clamp(1, MOST_IDS as i32) as usize;
        let taken = module.get::<Buffer>(buffer).map(|buffer| match later {
            0 => buffer.ids.take_many(most),
            _ => buffer.ids.take_run(most),
        });
        match taken {
            Ok(Ok((run, fetch))) => {
                with_ids(|ids| run.write(ids));
                module.answer(&[u8::from(fetch).into()]);
                run.count as i32
            }
            Ok(Err(empty)) => without_id(module, empty),
            Err(error) => module.fail(&error),
        }
    })
}

/// The numbers of unused and of taken ids, whether there is room for a segment, whether one is to be fetched, and
/// whether callers will wait soon.
#[unsafe(no_mangle)]
extern "C" fn buffer_state(buffer: i32) -> i32 {
    call(|module| {
        let Buffer { ids, filler } = module.get(buffer)?;
        let flag = |is: bool| f64::from(u8::from(is));
        let numbers = [
            ids.left(filler) as f64,
            ids.taken(filler) as f64,
            flag(ids.has_room(filler)),
            flag(ids.wants_fetch(filler)),
            flag(ids.is_low(filler)),
        ];
        module.answer(&numbers);
        Ok(0)
    })
}

/// Ends the buffer; the number of segments with ids that nobody took, and these.
#[unsafe(no_mangle)]
extern "C" fn buffer_seal(buffer: i32) -> i32 {
    call(|module| {
        let Buffer { ids, filler } = module.get(buffer)?;
        Ok(write_segments(ids.seal(filler)))
    })
}

/// A queue of segments that wait for room.
#[unsafe(no_mangle)]
extern "C" fn pending_new() -> i32 {
    with(|module| module.add(PendingSegments::new()))
}

/// Adds a segment at the end, or at the front.
#[unsafe(no_mangle)]
extern "C" fn pending_push(pending: i32, start: i64, end: i64, stride: i64, front: i32) -> i32 {
    call(|module| {
        let segment = Segment::new(start, end, stride)?;
        let pending = module.get_mut::<PendingSegments>(pending)?;
        match front {
            0 => pending.push_back(segment),
            _ => pending.push_front(segment),
        }
        Ok(0)
    })
}

/// Up to `most` ids of the first segment: 1 and a segment, or 0. They stay in the queue.
#[unsafe(no_mangle)]
extern "C" fn pending_first(pending: i32, most: f64) -> i32 {
    call(|module| Ok(write_segments(module.get::<PendingSegments>(pending)?.first(most as u64))))
}

/// Removes this many ids of the first segment.
#[unsafe(no_mangle)]
extern "C" fn pending_drop_first(pending: i32, count: f64) -> i32 {
    call(|module| {
        module.get_mut::<PendingSegments>(pending)?.drop_first(count as u64);
        Ok(0)
    })
}

/// The number of ids in the queue.
#[unsafe(no_mangle)]
extern "C" fn pending_ids(pending: i32) -> f64 {
    call(|module| Ok(module.get::<PendingSegments>(pending)?.ids() as f64))
}

/// A guard that continues with `count` spans, each three i64 of the input, and keeps at most `most`. The order of the
/// source's ids is 0 ascending, 1 ranges of several counters, 2 sparse.
#[unsafe(no_mangle)]
extern "C" fn guard_new(order: i32, mark: i64, count: i32, most: i32) -> i32 {
    call(|module| {
        let order = match order {
            0 => IdOrder::Ascending,
            1 => IdOrder::Ranges,
            2 => IdOrder::Sparse,
            _ => return Err(Error::invalid("order", order, "0, 1 or 2")),
        };
        let [bytes] = module.input([count.saturating_mul(24)])?;
        let spans: Result<_> = bytes.as_chunks::<8>().0.chunks_exact(3).map(span).collect();
        let guard = Guard::resume(order, mark, spans?, most.max(1) as usize);
        Ok(module.add(guard))
    })
}

fn span(words: &[[u8; 8]]) -> Result<Segment> {
    let word = |at: usize| words.get(at).map_or(0, |word| i64::from_le_bytes(*word));
    Segment::new(word(0), word(1), word(2))
}

/// Accepts a segment, or says why not. `after` is the mark before the request.
#[unsafe(no_mangle)]
extern "C" fn guard_offer(guard: i32, start: i64, end: i64, stride: i64, after: i64) -> i32 {
    call(|module| {
        let segment = Segment::new(start, end, stride)?;
        module.get_mut::<Guard>(guard)?.offer(segment, after).map(|()| 0)
    })
}

/// The mark: above every id that was ever offered.
#[unsafe(no_mangle)]
extern "C" fn guard_mark(guard: i32) -> i64 {
    call(|module| Ok(module.get::<Guard>(guard)?.mark()))
}

/// The number of spans, and these; the one that grew last comes last.
#[unsafe(no_mangle)]
extern "C" fn guard_spans(guard: i32) -> i32 {
    call(|module| Ok(write_segments(module.get::<Guard>(guard)?.spans().iter().copied())))
}
