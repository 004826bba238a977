//! Calls of the C interface with whatever C allows: what is passed, what comes back, and the callbacks.

mod callbacks;
mod memory;
mod segments;
mod snowflakes;

use memory::{Memory, asked, status_of, text_of};

use crate::{Input, directory};
use leafid_c::*;
use std::collections::HashSet;

/// What a program holds between its calls.
pub struct Program {
    snowflakes: snowflakes::Snowflakes,
    segments: segments::Held,
    /// All ids of one space and layout, and of one source.
    ids: HashSet<(String, i64)>,
}

impl Program {
    /// Makes calls until the input ends, gives everything back, and forgets what was kept on disk.
    pub fn run(mut input: Input<'_>) {
        let mut program = Program {
            snowflakes: snowflakes::Snowflakes::default(),
            segments: segments::Held::default(),
            ids: HashSet::new(),
        };
        for _ in 0..200 {
            if input.is_empty() {
                break;
            }
            match input.byte() % 8 {
                0 => program.values(&mut input),
                1..=3 => program.call_snowflakes(&mut input),
                _ => program.call_segments(&mut input),
            }
        }
        let Program { snowflakes, segments, .. } = program;
        drop((snowflakes, segments));
        callbacks::all_given_back();
        let _ = std::fs::remove_dir_all(directory("c"));
    }

    /// Ids of one space are each issued once, and none is negative.
    fn issued(&mut self, space: &str, ids: &[i64]) {
        for &id in ids {
            assert!(id >= 0, "{id} of {space}");
            assert!(self.ids.insert((space.to_owned(), id)), "{id} of {space} twice");
        }
    }

    /// Functions without a handle.
    fn values(&mut self, input: &mut Input<'_>) {
        let mut memory = Memory::new(input.byte());
        let layout = leafid_layout {
            epoch_ms: input.number(),
            tick_ms: input.number(),
            timestamp_bits: input.number() as i32,
            worker_bits: input.number() as i32,
            sequence_bits: input.number() as i32,
            order: input.number() as i32,
        };
        let layout = if input.flag() { std::ptr::null() } else { &raw const layout };
        let (mut id, mut parts) = (0, leafid_parts { timestamp_ms: 0, worker_id: 0, sequence: 0 });
        // SAFETY: pointers are NULL, misaligned, which is refused, or of what lives here.
        unsafe {
            match input.byte() % 8 {
                0 => {
                    let (time, worker, sequence) = (input.number(), input.number(), input.number());
                    let status = leafid_compose(time, worker, sequence, layout, memory.out(&mut id));
                    if status_of(status) && !memory.is_odd() {
                        assert!(id >= 0);
                        let decoded = status_of(leafid_decode(id, layout, &mut parts));
                        assert!(
                            decoded && i64::from(parts.worker_id) == worker && parts.timestamp_ms <= time
                        );
                    }
                }
                1 => asked(leafid_decode(input.number(), layout, memory.out(&mut parts))),
                2 => {
                    let text = memory.text(input);
                    asked(leafid_decode_text(text, layout, memory.out(&mut parts)));
                }
                3 => {
                    let text = memory.text(input);
                    let mut parsed = std::mem::zeroed::<leafid_layout>();
                    if status_of(leafid_layout_parse(text, memory.out(&mut parsed))) && !memory.is_odd() {
                        assert!(status_of(leafid_layout_expires_at_ms(&parsed, &mut id)) && id > 0);
                    }
                }
                4 => asked(leafid_layout_expires_at_ms(layout, memory.out(&mut id))),
                5 => {
                    let status = input.number() as i32;
                    assert!(!text_of(leafid_status_name(status)).is_empty());
                    assert!(!leafid_status_can_retry(status) || (1..=16).contains(&status));
                    assert!(!text_of(leafid_version()).is_empty());
                }
                6 => {
                    let log: leafid_log_fn = if input.flag() { Some(callbacks::log) } else { None };
                    asked(leafid_set_log(log, std::ptr::null_mut(), input.number() as i32));
                }
                _ => drop(memory.written(input, |buf, cap, needed| leafid_metrics(buf, cap, needed))),
            }
        }
    }
}
