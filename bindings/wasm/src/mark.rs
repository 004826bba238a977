//! The marks of tags: the content of their files, and what a source may give next.

use crate::module::{Module, Result, call, utf8, write, write_bytes};
use crate::segment::{id_order, read_segments, write_segments};
use alloc::vec::Vec;
use leafid_core::Error;
use leafid_core::format::file_names::{checksum, file_name};
use leafid_core::format::mark::Mark;
use leafid_core::format::shared::{self, Found};
use leafid_core::format::two_slots::{self, SLOT_BYTES};

/// The name of a tag's file, as output. Without a tag: what the names of all files of the source begin with.
#[unsafe(no_mangle)]
extern "C" fn mark_name(source_length: i32, tag_length: i32) -> i32 {
    call(|module| {
        let [source, tag] = module.texts([source_length, tag_length.max(0)])?;
        let prefix = alloc::format!("segment-{}-", checksum(source));
        let name = if tag_length < 0 { prefix } else { alloc::format!("{prefix}{}.mark", file_name(tag)) };
        write(&[&name]);
        Ok(0)
    })
}

/// What a file holds.
struct MarkFile<'a> {
    path: &'a str,
    mark: Mark,
    bytes: Vec<u8>,
    /// The slot to write next, and the number to write there.
    spare: usize,
    number: u64,
    /// The other slot may have held a later write.
    damaged: bool,
}

/// The content of a file, checked; without bytes that of a new tag. The lengths are those of the input's parts.
fn read(module: &Module, [source, tag, path, bytes]: [i32; 4]) -> Result<MarkFile<'_>> {
    let [source, tag, path, bytes] = module.input([source, tag, path, bytes])?;
    let (source, tag, path) = (utf8(source)?, utf8(tag)?, utf8(path)?);
    if bytes.is_empty() {
        let mark = Mark::unused(source, tag);
        let bytes = two_slots::new_file(|number| shared::seal(number, &mark))?.to_vec();
        let number = two_slots::NUMBER_OF_NEW + 1;
        return Ok(MarkFile { path, mark, bytes, spare: 0, number, damaged: false });
    }
    let (Found { content: mark, damaged }, newest, spare) = shared::read::<Mark>(path, bytes)?;
    mark.check_whose(source, tag, path)?;
    Ok(MarkFile { path, mark, bytes: bytes.to_vec(), spare, number: newest + 1, damaged })
}

/// The mark in a file, or 0 of a new tag: every id below it was given before. The input is the names of the source and
/// of the tag, the file's path for messages, and its bytes, none for a missing file.
#[unsafe(no_mangle)]
extern "C" fn mark_after(source: i32, tag: i32, path: i32, bytes: i32) -> i64 {
    call(|module| Ok(read(module, [source, tag, path, bytes])?.mark.mark.0))
}

/// When the tag of a file was fetched, and as output its name.
#[unsafe(no_mangle)]
extern "C" fn mark_recent(path: i32, bytes: i32) -> f64 {
    call(|module| {
        let [path, bytes] = module.input([path, bytes])?;
        let (found, ..) = shared::read::<Mark>(utf8(path)?, bytes)?;
        let Mark { tag, fetched_ms, .. } = found.content;
        write(&[&tag]);
        Ok(fetched_ms as f64)
    })
}

/// Checks the segments that a source returned for `after`. The input is as of `mark_after`, and then the
/// segments, each three i64.
///
/// Returns the number of segments that were not given before, and these as ids; or an error if there is none. Numbers:
/// the slot that changed, 1 if the other one is damaged, and the number of the error for those left out, or 0. Output:
/// the file's bytes, and that error's message. No id may be used before the bytes are durable.
#[unsafe(no_mangle)]
extern "C" fn mark_accept(
    source: i32,
    tag: i32,
    path: i32,
    bytes: i32,
    segments: i32,
    order: i32,
    after: i64,
    now_ms: f64,
) -> i32 {
    call(|module| {
        let order = id_order(order)?;
        let [.., segments] = module.input([source, tag, path, bytes, segments])?;
        let segments = read_segments(segments)?;
        let MarkFile { path, mut mark, bytes: mut file, spare, number, damaged } =
            read(module, [source, tag, path, bytes])?;
        let mut guard = mark.guard(order, path)?;
        let mut refused: Option<Error> = None;
        let mut accepted = Vec::new();
        for segment in segments {
            match guard.offer(segment, after) {
                Ok(()) => accepted.push(segment),
                Err(error) => drop(refused.get_or_insert(error)),
            }
        }
        if let Some(error) = refused.clone().filter(|_| accepted.is_empty()) {
            return Err(error.into());
        }
        mark.remember(&guard, order, now_ms as i64);
        // They are bound to the file's last change, which is now.
        mark.kept = None;
        let slot = shared::seal(number, &mark)?;
        if let Some(place) = file.get_mut(spare * SLOT_BYTES..(spare + 1) * SLOT_BYTES) {
            place.copy_from_slice(&slot);
        }
        let (left_out, message) = match &refused {
            Some(error) => (error.code().number(), error.message()),
            None => (0, ""),
        };
        module.answer(&[spare as f64, u8::from(damaged).into(), left_out.into()]);
        file.extend_from_slice(message.as_bytes());
        write_bytes(&file);
        Ok(write_segments(accepted))
    })
}
