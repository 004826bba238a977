//! Segments: the buffer of a tag, what waits for room in it, and the guard against ids that a source repeats.

use crate::argument::optional;
use crate::ids::{MOST_IDS, with_ids, write_run};
use crate::machine::Buffer;
use crate::module::{CallFailed, Result, Returned, call, with};
use alloc::vec::Vec;
use leafid_core::{
    DoubleBuffer, Empty, Error, Guard, IdOrder, PendingSegments, RunLength, Segment, Stock, options,
};

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

/// Checks the options of segments. `source`: 0 a callback, 1 a Leaf, 2 a Leaf's snowflakes, 3 ranges, 4 a tinyid. NaN,
/// and -1 as `ordered_source`, stand for what is not set. The input is the id space's name.
///
/// Returns the order of the ids, as of `guard_new`. Numbers: step or NaN, prefetch, timeout_ms, request_timeout_ms,
/// connect_timeout_ms, connections, block_size, which is 0 for snowflakes.
#[unsafe(no_mangle)]
extern "C" fn segments_check(
    source: i32,
    name_length: i32,
    step: f64,
    prefetch: f64,
    timeout_ms: f64,
    request_timeout_ms: f64,
    connect_timeout_ms: f64,
    connections: f64,
    block_size: f64,
    ordered_source: i32,
) -> i32 {
    call(|module| {
        let [name] = module.texts([name_length])?;
        options::id_space(Some(name))?;
        let step = optional("step", step)?;
        options::check_step(step)?;
        let ms = |name, value, default| {
            let ms = options::milliseconds(name, optional(name, value)?.unwrap_or(default), 1)?;
            Result::Ok(ms.as_millis() as f64)
        };
        let connections = optional("connections", connections)?.unwrap_or(4);
        options::check_connections(usize::try_from(connections).unwrap_or(usize::MAX))?;
        let size = options::block_size(optional("block_size", block_size)?, source == 1)?;
        let ordered = (ordered_source >= 0).then_some(ordered_source != 0);
        let order = match source {
            1 | 2 => {
                options::check_leaf_order(ordered)?;
                source
            }
            4 => {
                options::check_tinyid_step(step)?;
                i32::from(options::id_order(ordered, false) != IdOrder::Ascending)
            }
            _ => i32::from(options::id_order(ordered, true) != IdOrder::Ascending),
        };
        let numbers = [
            step.map_or(f64::NAN, |step| step as f64),
            options::prefetch(optional("prefetch", prefetch)?)?.into(),
            ms("timeout_ms", timeout_ms, options::DEFAULT_TIMEOUT_MS)?,
            ms("request_timeout_ms", request_timeout_ms, 1_000)?,
            ms("connect_timeout_ms", connect_timeout_ms, 300)?,
            connections as f64,
            if source == 2 { 0.0 } else { size as f64 },
        ];
        module.answer(&numbers);
        Ok(order)
    })
}

/// Checks the tag's name.
#[unsafe(no_mangle)]
extern "C" fn tag_check(length: i32) -> i32 {
    call(|module| {
        let [tag] = module.texts([length])?;
        options::check_tag(tag)?;
        Ok(0)
    })
}

/// Checks the tag's name for a source that is no Leaf.
#[unsafe(no_mangle)]
extern "C" fn tag_of_ids_check(block_size: f64, length: i32) -> i32 {
    call(|module| {
        let [tag] = module.texts([length])?;
        options::check_tag_of_ids(tag, optional("block_size", block_size)?)?;
        Ok(0)
    })
}

/// An empty buffer.
#[unsafe(no_mangle)]
extern "C" fn buffer_new() -> i32 {
    let (ids, filler) = DoubleBuffer::new();
    with(|module| module.add(Buffer { ids, filler, run: RunLength::default() }))
}

/// Adds a segment; 0 if there is no room for it. When more than `prefetch` percent of it are used, the next one is to
/// be fetched; NaN is the default.
#[unsafe(no_mangle)]
extern "C" fn buffer_offer(buffer: i32, start: i64, end: i64, stride: i64, prefetch: f64) -> i32 {
    call(|module| {
        let segment = Segment::new(start, end, stride)?;
        let prefetch = options::prefetch(optional("prefetch", prefetch)?)?;
        let Buffer { ids, filler, .. } = module.get_mut(buffer)?;
        Ok(ids.offer(filler, segment, prefetch).is_ok().into())
    })
}

fn without_id<T: Returned>(empty: Empty) -> T {
    match empty {
        Empty::UsedUp => T::negative(USED_UP),
        Empty::Sealed => {
            CallFailed::from(Error::new(leafid_core::Code::Closed, "the tag was closed; open another one"))
                .returned()
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
        Ok(Err(empty)) => without_id(empty),
        Err(failed) => failed.returned(),
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
                with_ids(|ids| write_run(&run, ids));
                module.answer(&[u8::from(fetch).into()]);
                run.count as i32
            }
            Ok(Err(empty)) => without_id(empty),
            Err(failed) => failed.returned(),
        }
    })
}

/// As `buffer_reserve` with `later`, of as many ids as the use of the last second suggests.
#[unsafe(no_mangle)]
extern "C" fn buffer_run(buffer: i32, boot_ms: f64) -> i32 {
    with(|module| {
        let taken = module.get_mut::<Buffer>(buffer).map(|buffer| {
            let taken = buffer.ids.take_run(buffer.run.next());
            taken.inspect(|(run, _)| buffer.run.taken(run.count, boot_ms as i64))
        });
        match taken {
            Ok(Ok((run, fetch))) => {
                with_ids(|ids| write_run(&run, ids));
                module.answer(&[u8::from(fetch).into()]);
                run.count as i32
            }
            Ok(Err(empty)) => without_id(empty),
            Err(failed) => failed.returned(),
        }
    })
}

/// The numbers of unused and of taken ids, whether there is room for a segment, whether one is to be fetched, and
/// whether callers will wait soon.
#[unsafe(no_mangle)]
extern "C" fn buffer_state(buffer: i32) -> i32 {
    call(|module| {
        let Buffer { ids, filler, .. } = module.get(buffer)?;
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

/// Moves segments from the queue into the buffer while there is room; their number. `prefetch` as of `buffer_offer`.
/// With the step of a stock as `most` it moves short pieces.
#[unsafe(no_mangle)]
extern "C" fn buffer_refill(buffer: i32, pending: i32, prefetch: f64, most: f64, adaptive: i32) -> i32 {
    call(|module| {
        let prefetch = options::prefetch(optional("prefetch", prefetch)?)?;
        let stock = (!most.is_nan()).then(|| stock(most, adaptive, 0.0));
        let mut moved = 0;
        loop {
            let queue = module.get::<PendingSegments>(pending)?;
            let Some(whole) = queue.first(u64::MAX) else { return Ok(moved) };
            let Buffer { ids, filler, .. } = module.get::<Buffer>(buffer)?;
            let piece = stock.map_or(u64::MAX, |stock| stock.piece(whole.len(), ids.taken(filler)));
            let Some(segment) = queue.first(piece).filter(|_| ids.has_room(filler)) else { return Ok(moved) };
            // Out of the queue first: an engine may end a call at any of its functions, for want of stack or of time. Then
            // ids are missing, and none is in both.
            module.get_mut::<PendingSegments>(pending)?.drop_first(segment.len());
            let Buffer { ids, filler, .. } = module.get_mut(buffer)?;
            // There is room.
            moved += i32::from(ids.offer(filler, segment, prefetch).is_ok());
        }
    })
}

/// The number of unused segments of the buffer and of the queue, the next one first, and these.
#[unsafe(no_mangle)]
extern "C" fn buffer_segments(buffer: i32, pending: i32) -> i32 {
    call(|module| {
        let Buffer { ids, filler, .. } = module.get(buffer)?;
        let queue = module.get::<PendingSegments>(pending)?;
        Ok(write_segments(ids.segments(filler).into_iter().chain(queue.iter())))
    })
}

/// Ends the buffer; the number of segments with ids that nobody took, and these.
#[unsafe(no_mangle)]
extern "C" fn buffer_seal(buffer: i32) -> i32 {
    call(|module| {
        let Buffer { ids, filler, .. } = module.get(buffer)?;
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
        let [bytes] = module.input([count.saturating_mul(24)])?;
        let guard = Guard::resume(id_order(order)?, mark, read_segments(bytes)?, most.max(1) as usize);
        Ok(module.add(guard))
    })
}

/// Errors: `invalid_argument`.
pub(crate) fn id_order(order: i32) -> Result<IdOrder> {
    match order {
        0 => Ok(IdOrder::Ascending),
        1 => Ok(IdOrder::Ranges),
        2 => Ok(IdOrder::Sparse),
        _ => Err(Error::invalid("order", order, "0, 1 or 2").into()),
    }
}

/// The segments of the input, each of three i64. Errors: `source_invalid`.
pub(crate) fn read_segments(bytes: &[u8]) -> Result<Vec<Segment>> {
    bytes.as_chunks::<8>().0.chunks_exact(3).map(span).collect()
}

fn span(words: &[[u8; 8]]) -> Result<Segment> {
    let word = |at: usize| words.get(at).map_or(0, |word| i64::from_le_bytes(*word));
    Ok(Segment::new(word(0), word(1), word(2))?)
}

/// Accepts a segment, or says why not. `after` is the mark before the request.
#[unsafe(no_mangle)]
extern "C" fn guard_offer(guard: i32, start: i64, end: i64, stride: i64, after: i64) -> i32 {
    call(|module| {
        let segment = Segment::new(start, end, stride)?;
        module.get_mut::<Guard>(guard)?.offer(segment, after)?;
        Ok(0)
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

/// The stock of a source that gives one id at a time. The numbers of the user were checked before.
fn stock(most: f64, adaptive: i32, prefetch: f64) -> Stock {
    Stock { most: most as u64, adaptive: adaptive != 0, prefetch: prefetch as u64 }
}

/// The number of ids to fetch, or -1 for none.
#[unsafe(no_mangle)]
extern "C" fn stock_wants(most: f64, adaptive: i32, prefetch: f64, left: f64, taken: f64) -> f64 {
    stock(most, adaptive, prefetch).wants(left as u64, taken as u64).map_or(-1.0, |wanted| wanted as f64)
}

/// The number of ids to keep ready.
#[unsafe(no_mangle)]
extern "C" fn stock_target(most: f64, adaptive: i32, taken: f64) -> f64 {
    stock(most, adaptive, 0.0).target(taken as u64) as f64
}

/// The number of ids of a segment of this length that one slot of the buffer may hold.
#[unsafe(no_mangle)]
extern "C" fn stock_piece(most: f64, adaptive: i32, length: f64, taken: f64) -> f64 {
    stock(most, adaptive, 0.0).piece(length as u64, taken as u64) as f64
}
