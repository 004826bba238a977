//! Calls with snowflakes and their options.

use super::callbacks::{self, MOOD};
use super::{Memory, Program, asked, status_of};
use crate::{Input, directory};
use leafid_c::*;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::SeqCst;

/// At most this many handles are there at a time.
const MOST: usize = 6;

#[derive(Default)]
pub(super) struct Snowflakes {
    options: Vec<Options>,
    flakes: Vec<Flake>,
}

struct Options {
    options: *mut leafid_snowflake_options,
    /// Whether a record is kept, of a directory that all share: then ids of all openings differ.
    shared: bool,
}

struct Flake {
    flake: *mut leafid_snowflake,
    space: Option<String>,
    last: i64,
}

impl Drop for Snowflakes {
    fn drop(&mut self) {
        // SAFETY: each once, and no more in use.
        unsafe {
            self.flakes.iter().for_each(|flake| leafid_snowflake_free(flake.flake));
            self.options.iter().for_each(|options| leafid_snowflake_options_free(options.options));
            leafid_snowflake_free(null_mut());
            leafid_snowflake_options_free(null_mut());
            asked(leafid_set_log(None, null_mut(), 1));
        }
    }
}

impl Program {
    pub(super) fn call_snowflakes(&mut self, input: &mut Input<'_>) {
        MOOD.store(input.byte(), SeqCst);
        // SAFETY: handles are NULL or live, and other pointers as `Memory` has them.
        unsafe {
            match input.byte() % 8 {
                0 => self.new_options(input),
                1..=3 => self.set_option(input),
                4 => self.open(input),
                5 | 6 => self.ids_of(input),
                _ => self.other(input),
            }
        }
    }

    unsafe fn new_options(&mut self, input: &mut Input<'_>) {
        let mut memory = Memory::new(input.byte());
        let mut options = null_mut();
        // SAFETY: as said by the caller.
        unsafe {
            if !status_of(leafid_snowflake_options_new(memory.out(&mut options))) || memory.is_odd() {
                return;
            }
            let state_dir = memory.own(directory("c").to_string_lossy().into_owned().into_bytes());
            assert!(status_of(leafid_snowflake_options_set_state_dir(options, state_dir)));
            // Two processes of this target at a time do not share a name.
            let name = memory.own(format!("c{}-{}", std::process::id(), input.below(1)).into_bytes());
            assert!(status_of(leafid_snowflake_options_set_name(options, name)));
            assert!(status_of(leafid_snowflake_options_set_worker_id(options, input.below(3) as i64)));
            assert!(status_of(leafid_snowflake_options_set_timeout_ms(options, 10)));
            if self.snowflakes.options.len() == MOST {
                leafid_snowflake_options_free(self.snowflakes.options.remove(0).options);
            }
        }
        self.snowflakes.options.push(Options { options, shared: true });
    }

    unsafe fn set_option(&mut self, input: &mut Input<'_>) {
        let (mut memory, number) = (Memory::new(0), input.number());
        let at = input.below(MOST);
        let chosen = self.snowflakes.options.get_mut(at);
        let o = chosen.as_ref().map_or(null_mut(), |chosen| chosen.options);
        let int = number as i32;
        // SAFETY: as said by the caller; functions as the header has them.
        let status = unsafe {
            match input.byte() % 26 {
                0 => leafid_snowflake_options_set_worker(o, memory.text(input)),
                1 => leafid_snowflake_options_set_worker_id(o, number),
                2 => leafid_snowflake_options_set_worker_range(o, number, input.number()),
                3 => leafid_snowflake_options_set_layout(o, memory.text(input)),
                4 => {
                    let mut layout = zeroed::<leafid_layout>();
                    asked(leafid_layout_parse(memory.text(input), &mut layout));
                    layout.tick_ms = input.number();
                    let layout = if input.byte() == 9 { null_mut() } else { &mut layout };
                    leafid_snowflake_options_set_layout_fields(o, layout)
                }
                5 => leafid_snowflake_options_set_epoch_ms(o, number),
                6 => leafid_snowflake_options_set_on_clock_backwards(o, int),
                7 => leafid_snowflake_options_set_max_backwards_ms(o, number),
                8 => leafid_snowflake_options_set_on_exhausted(o, int),
                9 => leafid_snowflake_options_set_random_start(o, number),
                10 => leafid_snowflake_options_set_timeout_ms(o, soon(number)),
                11 => {
                    if let Some(chosen) = chosen {
                        chosen.shared = false;
                    }
                    leafid_snowflake_options_set_persist(o, int)
                }
                12 => leafid_snowflake_options_set_shared_fs(o, int),
                13 => leafid_snowflake_options_set_lazy(o, int),
                14 => leafid_snowflake_options_set_token(o, memory.text(input)),
                15 => leafid_snowflake_options_add_header(o, memory.text(input), memory.text(input)),
                16 => leafid_snowflake_options_set_request_timeout_ms(o, soon(number)),
                17 => leafid_snowflake_options_set_connect_timeout_ms(o, soon(number)),
                18 => leafid_snowflake_options_set_clock_source(o, int),
                19 => leafid_snowflake_options_set_start_after(o, number),
                20 => {
                    let ask: leafid_peer_times_fn = if number == 9 { None } else { Some(callbacks::peers) };
                    let data = callbacks::given();
                    leafid_snowflake_options_set_peer_times(o, ask, data, Some(callbacks::give_back))
                }
                21 => {
                    let claim: leafid_claim_fn = if number == 9 { None } else { Some(callbacks::claim) };
                    let data = callbacks::given();
                    leafid_snowflake_options_set_worker_callback(o, claim, data, Some(callbacks::give_back))
                }
                22 => leafid_snowflake_options_set_shared_group(o, int),
                23 => leafid_snowflake_options_set_exclusive_range(o, int),
                24 => leafid_snowflake_options_set_no_record_wait_ms(o, soon(number)),
                _ => {
                    // The leases of this source overlap: it does not keep what it promises.
                    if let Some(chosen) = chosen {
                        chosen.shared = false;
                    }
                    let leases = leafid_worker_leases {
                        size: if number > 99 { number as usize } else { size_of::<leafid_worker_leases>() },
                        claim: Some(callbacks::lease),
                        renew: if number == 9 { None } else { Some(callbacks::renew) },
                        release: Some(callbacks::release),
                    };
                    let data = callbacks::given();
                    leafid_snowflake_options_set_worker_leases(o, &leases, data, Some(callbacks::give_back))
                }
            }
        };
        assert!(!status_of(status) || !o.is_null());
    }

    unsafe fn open(&mut self, input: &mut Input<'_>) {
        let mut memory = Memory::new(input.byte());
        let chosen = self.snowflakes.options.get(input.below(MOST));
        let (o, shared) = chosen.map_or((null_mut(), false), |chosen| (chosen.options, chosen.shared));
        let mut flake = null_mut();
        // SAFETY: as said by the caller. Without options the environment would say where.
        unsafe {
            if o.is_null() || !status_of(leafid_snowflake_open(o, memory.out(&mut flake))) || memory.is_odd()
            {
                return;
            }
            if self.snowflakes.flakes.len() == MOST {
                leafid_snowflake_free(self.snowflakes.flakes.remove(0).flake);
            }
            let mut layout = zeroed::<leafid_layout>();
            let name = Memory::new(0).written(input, |buf, cap, n| leafid_snowflake_name(flake, buf, cap, n));
            assert!(status_of(leafid_snowflake_layout(flake, &mut layout)));
            let space = name.filter(|_| shared).map(|name| format!("{name} {layout:?}"));
            self.snowflakes.flakes.push(Flake { flake, space, last: -1 });
        }
    }

    unsafe fn ids_of(&mut self, input: &mut Input<'_>) {
        let mut memory = Memory::new(input.byte());
        let Some(chosen) = self.snowflakes.flakes.get_mut(input.below(MOST)) else {
            // SAFETY: NULL is refused.
            assert!(!status_of(unsafe { leafid_snowflake_next(null_mut(), &mut 0) }));
            return;
        };
        let flake = chosen.flake;
        let (mut id, mut ids, mut taken) = (-1, Vec::new(), null_mut());
        // SAFETY: as said by the caller; `fill` has the room that is passed, or refuses so much.
        unsafe {
            match input.byte() % 4 {
                0 | 1 => {
                    if status_of(leafid_snowflake_next(flake, memory.out(&mut id))) && !memory.is_odd() {
                        ids.push(id);
                    }
                }
                2 => {
                    let n = count(input);
                    let mut room = vec![-1; if n > 1 << 24 { 1 } else { n }].into_boxed_slice();
                    if status_of(leafid_snowflake_fill(flake, room.as_mut_ptr(), n)) {
                        ids = room.into_vec();
                        assert!(n <= 1 << 24);
                    }
                    assert!(!status_of(leafid_snowflake_fill(flake, null_mut(), 1)));
                }
                _ => {
                    let n = count(input);
                    if status_of(leafid_snowflake_take(flake, n, memory.out(&mut taken))) && !memory.is_odd()
                    {
                        ids = taken_ids(taken, n);
                    }
                    leafid_ids_free(null_mut(), n);
                }
            }
        }
        let before = chosen.last;
        chosen.last = ids.last().copied().unwrap_or(before);
        assert!(
            ids.iter().is_sorted() && ids.first().is_none_or(|&first| first > before),
            "{ids:?} {before}"
        );
        if let Some(space) = chosen.space.clone() {
            self.issued(&space, &ids);
        }
    }

    unsafe fn other(&mut self, input: &mut Input<'_>) {
        let mut memory = Memory::new(input.byte());
        let at = input.below(MOST);
        let f = self.snowflakes.flakes.get(at).map_or(null_mut(), |chosen| chosen.flake);
        // SAFETY: as said by the caller.
        unsafe {
            match input.byte() % 8 {
                0 => assert!(status_of(leafid_snowflake_close(f)) || f.is_null()),
                1 if !f.is_null() => leafid_snowflake_free(self.snowflakes.flakes.remove(at).flake),
                2 => {
                    let size = input.number() as usize;
                    let mut room = vec![-1_i64; size.min(1 << 16).div_ceil(8).max(1)];
                    asked(leafid_snowflake_stats(f, room.as_mut_ptr().cast(), size));
                }
                3 => asked(leafid_snowflake_worker_id(f, memory.out(&mut 0))),
                4 => asked(leafid_snowflake_layout(f, memory.out(&mut zeroed()))),
                5 => drop(memory.written(input, |b, cap, n| leafid_snowflake_state_dir(f, b, cap, n))),
                6 => drop(memory.written(input, |b, cap, n| leafid_snowflake_last_error(f, b, cap, n))),
                _ => drop(memory.written(input, |b, cap, n| leafid_snowflake_name(f, b, cap, n))),
            }
        }
    }
}

/// A time that is no time, or a short one: nothing shall wait for long.
pub(super) fn soon(ms: i64) -> i64 {
    if (1..=3_600_000).contains(&ms) { ms % 20 + 1 } else { ms }
}

/// The ids that a call allocated, which are given back.
///
/// # Safety
///
/// There are this many, of `take`, and not given back yet.
pub(super) unsafe fn taken_ids(taken: *mut i64, n: usize) -> Vec<i64> {
    if n == 0 {
        assert!(taken.is_null(), "memory for no id");
        return Vec::new();
    }
    // SAFETY: as said by the caller.
    unsafe {
        let ids = std::slice::from_raw_parts(taken, n).to_vec();
        leafid_ids_free(taken, n);
        ids
    }
}

/// How many ids: none, some, or more than can be.
pub(super) fn count(input: &mut Input<'_>) -> usize {
    match input.byte() {
        255 => usize::MAX,
        254 => (1 << 24) + 1,
        253 => isize::MAX as usize / 8 + 1,
        few => usize::from(few),
    }
}
