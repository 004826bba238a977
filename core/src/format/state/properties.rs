//! Properties: every stored record is read back, and damaged bytes are never read as another record.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::format::cases::holds;
use proptest::prelude::*;

fn layout() -> impl Strategy<Value = Layout> {
    let custom =
        (1..=41i64, 0..=11i64, 0..=11i64, 1..=60i64, any::<bool>()).prop_map(|(t, w, s, tick_ms, low)| {
            let order = if low { Order::SequenceWorker } else { Order::WorkerSequence };
            let fields = LayoutFields {
                tick_ms,
                timestamp_bits: t,
                worker_bits: w,
                sequence_bits: s,
                order,
                ..LayoutFields::default()
            };
            Layout::new(fields).unwrap()
        });
    prop_oneof![Just(Layout::LEAF), Just(Layout::UID_GENERATOR), Just(Layout::SONYFLAKE), custom]
}

fn record() -> impl Strategy<Value = Record> {
    layout().prop_flat_map(|layout| {
        let end = layout.last_tick() + 1;
        let span = (0..=end, 0..=end).prop_map(|(a, b)| Span { from: a.min(b), until: a.max(b) });
        let spans = prop::collection::vec(span.clone(), 0..17);
        let numbers = (0..=layout.max_worker_id(), any::<i64>(), any::<u128>());
        (Just(layout), numbers, span, spans.clone(), spans).prop_map(
            |(layout, (worker_id, granted_at_ms, owner), run, skipped, former)| Record {
                worker_id,
                layout,
                run,
                granted_at_ms,
                owner,
                skipped,
                former,
            },
        )
    })
}

fn stored() -> impl Strategy<Value = StoredRecord> {
    let text =
        || prop::collection::vec(any::<char>(), 0..40).prop_map(|text| text.into_iter().collect::<String>());
    let clocks = (any::<i64>(), prop::option::of((any::<i64>(), any::<i64>())));
    let writer = (any::<i32>(), text(), text(), text(), clocks).prop_map(
        |(pid, host, started, boot, (counted_ms, leap_ms))| Writer {
            pid,
            host,
            started,
            boot,
            counted_ms,
            leap_ms,
        },
    );
    (0..two_slots::NUMBER_LIMIT - 2, text(), record(), writer)
        .prop_map(|(number, name, record, writer)| StoredRecord { number, name, record, writer })
}

/// A file with the newest record in this slot, and the bytes of the record that is written next.
fn file(records: &[StoredRecord; 3], newest: usize) -> (Vec<u8>, Vec<u8>) {
    let bytes = |stored: &StoredRecord| stored.to_bytes().unwrap();
    let mut file = [bytes(&records[0]), bytes(&records[1])];
    file.rotate_left(1 - newest);
    (file.concat(), bytes(&records[2]).to_vec())
}

/// Three records of one worker id, written one after another, and the slot of the second.
fn history() -> impl Strategy<Value = ([StoredRecord; 3], usize)> {
    ((stored(), stored(), stored()), 0..2usize).prop_map(|((first, mut second, mut third), newest)| {
        second.number = first.number + 1;
        third.number = first.number + 2;
        ([first, second, third], newest)
    })
}

fn read(bytes: &[u8]) -> Result<(StoredRecord, usize, bool)> {
    read_file("/simulated", bytes).map(|slots| (slots.newest, slots.spare, slots.damaged))
}

#[test]
fn what_is_recorded_is_read() {
    holds(1_000, history(), |(records, newest)| {
        let (file, next) = file(&records, newest);
        prop_assert_eq!(read(&file), Ok((records[1].clone(), 1 - newest, false)));
        let written = if newest == 0 { [&file[..SLOT_BYTES], &next] } else { [&next, &file[SLOT_BYTES..]] };
        prop_assert_eq!(read(&written.concat()), Ok((records[2].clone(), newest, false)));
        Ok(())
    });
}

#[test]
fn a_damaged_slot_is_never_read_for_another_record() {
    // Up to four bytes in a row, which the checksum always detects; at any place, also in the blanks.
    let damage = (0..FILE_BYTES - 4, prop::array::uniform4(any::<u8>()), 1..=4usize);
    holds(2_000, (history(), damage), |((records, newest), (at, bits, count))| {
        let (before, _) = file(&records, newest);
        let mut bytes = before.clone();
        bytes[at..at + count].iter_mut().zip(bits).for_each(|(byte, bits)| *byte ^= bits);
        let changed = |slot: usize| {
            let slot = slot * SLOT_BYTES..(slot + 1) * SLOT_BYTES;
            bytes[slot.clone()] != before[slot]
        };
        let expected = match (changed(newest), changed(1 - newest)) {
            (false, other) => Ok((records[1].clone(), 1 - newest, other)),
            (true, false) => Ok((records[0].clone(), newest, true)),
            (true, true) => Err(Code::StateCorrupt),
        };
        prop_assert_eq!(read(&bytes).map_err(|error| error.code()), expected);
        Ok(())
    });
}

#[test]
fn a_torn_write_leaves_the_record_before_or_the_new_one() {
    // Each sector of 512 bytes either reached the disk or did not.
    holds(2_000, (history(), any::<u8>()), |((records, newest), sectors)| {
        let (mut bytes, next) = file(&records, newest);
        let spare = (1 - newest) * SLOT_BYTES;
        for sector in (0..8).filter(|sector| sectors >> sector & 1 == 1) {
            let part = sector * 512..(sector + 1) * 512;
            bytes[spare..][part.clone()].copy_from_slice(&next[part]);
        }
        let (found, ..) = read(&bytes).unwrap();
        prop_assert!(found == records[1] || (found == records[2] && sectors != 0), "{:?}", found);
        prop_assert!(sectors != 255 || found == records[2], "it was written whole");
        Ok(())
    });
}
