//! The format of state files.

use crate::module::{call, utf8, write, write_bytes};
use leafid_core::format::state::{self, SlotPair, StoredRecord, Writer};
use leafid_core::{Code, Error, Record};

/// Reads a state file. The input is its path, for messages, and its bytes.
#[unsafe(no_mangle)]
extern "C" fn state_read(path_length: i32, length: i32) -> i32 {
    call(|module| {
        let [path, bytes] = module.input([path_length, length])?;
        let found = state::read_file(utf8(path)?, bytes)?;
        Ok(module.add(found))
    })
}

/// The slot to write next (0 or 1), and 1 if the other slot is damaged. The output is the id space's name, a line feed,
/// and the writer in JSON.
#[unsafe(no_mangle)]
extern "C" fn stored_fields(stored: i32) -> i32 {
    call(|module| {
        let found = module.get::<SlotPair>(stored)?;
        let numbers = [found.spare as f64, u8::from(found.damaged).into()];
        let writer = found.newest.writer.to_json();
        let name = found.newest.name.clone();
        module.answer(&numbers);
        write(&[&name, "\n", &writer]);
        Ok(0)
    })
}

/// The number of the newest slot.
#[unsafe(no_mangle)]
extern "C" fn stored_number(stored: i32) -> i64 {
    call(|module| Ok(module.get::<SlotPair>(stored)?.newest.number as i64))
}

/// The record of the newest slot, as a new handle.
#[unsafe(no_mangle)]
extern "C" fn stored_record(stored: i32) -> i32 {
    call(|module| {
        let record = module.get::<SlotPair>(stored)?.newest.record.clone();
        Ok(module.add(record))
    })
}

/// The bytes of a slot with this number, as output. The input is the id space's name, and the writer in JSON.
#[unsafe(no_mangle)]
extern "C" fn state_slot(record: i32, number: i64, name_length: i32, writer_length: i32) -> i32 {
    call(|module| {
        let record = module.get::<Record>(record)?.clone();
        let [name, writer] = module.texts([name_length, writer_length])?;
        let writer = Writer::from_json(writer).map_err(|error| {
            Error::new(Code::InvalidArgument, alloc::format!("the writer is not as in a file: {error}"))
        })?;
        let stored = StoredRecord { number: number as u64, name: name.into(), record, writer };
        let bytes = stored.to_bytes()?;
        write_bytes(&bytes);
        Ok(0)
    })
}

/// The bytes of the file of an unused worker id, as output. The input is the id space's name.
#[unsafe(no_mangle)]
extern "C" fn state_new_file(record: i32, name_length: i32) -> i32 {
    call(|module| {
        let record = module.get::<Record>(record)?.clone();
        let [name] = module.texts([name_length])?;
        let stored = StoredRecord { number: 0, name: name.into(), record, writer: Writer::default() };
        let bytes = state::unused_file(stored)?;
        write_bytes(&bytes);
        Ok(0)
    })
}
