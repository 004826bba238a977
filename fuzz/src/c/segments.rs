//! Calls with segments, their options and their tags.

use super::callbacks::{self, MOOD};
use super::snowflakes::{count, soon, taken_ids};
use super::{Memory, Program, asked, status_of};
use crate::{Input, directory};
use leafid_c::*;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::SeqCst;

const MOST: usize = 6;

#[derive(Default)]
pub(super) struct Held {
    options: Vec<(*mut leafid_segments_options, Source)>,
    segments: Vec<(*mut leafid_segments, Source)>,
    tags: Vec<(*mut leafid_tag, Source)>,
}

/// Where ids come from, as far as it is known: within one of these none comes twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    None,
    Callback,
    File,
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: each once, and no more in use.
        unsafe {
            self.segments.iter().for_each(|(segments, _)| leafid_segments_free(*segments));
            self.tags.iter().for_each(|(tag, _)| leafid_tag_free(*tag));
            self.options.iter().for_each(|(options, _)| leafid_segments_options_free(*options));
            leafid_segments_free(null_mut());
            leafid_tag_free(null_mut());
            leafid_segments_options_free(null_mut());
        }
    }
}

impl Program {
    pub(super) fn call_segments(&mut self, input: &mut Input<'_>) {
        MOOD.store(input.byte(), SeqCst);
        // SAFETY: handles are NULL or live, and other pointers as `Memory` has them.
        unsafe {
            match input.byte() % 12 {
                0 | 1 => self.new_segments_options(input),
                2 => self.set_segments_option(input),
                3 | 4 => self.open_segments(input),
                5 | 6 => self.open_tag(input),
                7..=9 => self.ids_of_tag(input),
                10 => self.ask_segments(input),
                _ => self.ask_tag(input),
            }
        }
    }

    unsafe fn new_segments_options(&mut self, input: &mut Input<'_>) {
        let mut memory = Memory::new(input.byte());
        let mut o = null_mut();
        let base = directory("c").to_string_lossy().into_owned();
        // SAFETY: as said by the caller.
        unsafe {
            if !status_of(leafid_segments_options_new(memory.out(&mut o))) || memory.is_odd() {
                return;
            }
            let state_dir = memory.own(base.clone().into_bytes());
            assert!(status_of(leafid_segments_options_set_state_dir(o, state_dir)));
            assert!(status_of(leafid_segments_options_set_timeout_ms(o, 5)));
            let source = match input.byte() % 4 {
                0 => Source::None,
                1 => {
                    let url = memory.own(format!("file:{base}/counters").into_bytes());
                    assert!(status_of(leafid_segments_options_add_server(o, url)));
                    assert!(status_of(leafid_segments_options_set_create(o, 1)));
                    for tag in TAGS {
                        let tag = memory.own(tag.as_bytes().to_vec());
                        assert!(status_of(leafid_segments_options_add_file_tag(
                            o,
                            tag,
                            1,
                            1 + input.below(20) as i64
                        )));
                    }
                    Source::File
                }
                _ => {
                    let (data, back) = (callbacks::given(), Some(callbacks::give_back as _));
                    assert!(status_of(leafid_segments_options_set_fetch(
                        o,
                        Some(callbacks::fetch),
                        data,
                        back
                    )));
                    Source::Callback
                }
            };
            if self.segments.options.len() == MOST {
                leafid_segments_options_free(self.segments.options.remove(0).0);
            }
            self.segments.options.push((o, source));
        }
    }

    unsafe fn set_segments_option(&mut self, input: &mut Input<'_>) {
        let (mut memory, number) = (Memory::new(0), input.number());
        let at = input.below(MOST);
        let o = self.segments.options.get(at).map_or(null_mut(), |(options, _)| *options);
        let int = number as i32;
        // SAFETY: as said by the caller; functions as the header has them.
        let status = unsafe {
            match input.byte() % 22 {
                0 => leafid_segments_options_set_name(o, memory.text(input)),
                1 => leafid_segments_options_set_persist(o, int),
                2 => leafid_segments_options_set_shared_fs(o, int),
                3 => leafid_segments_options_set_step(o, number),
                4 => leafid_segments_options_set_adaptive(o, int),
                5 => leafid_segments_options_set_prefetch(o, number),
                6 => leafid_segments_options_set_timeout_ms(o, soon(number)),
                7 => leafid_segments_options_add_prewarm(o, memory.text(input)),
                8 => leafid_segments_options_set_prewarm_last_day(o, int),
                9 | 10 => leafid_segments_options_set_keep_unused(o, int),
                11 => leafid_segments_options_set_ordered_source(o, int),
                12 => {
                    let server = memory.own(b"http://127.0.0.1:1".to_vec());
                    leafid_segments_options_add_server(o, if number == 9 { null_mut() } else { server })
                }
                13 => leafid_segments_options_set_protocol(o, int),
                14 => leafid_segments_options_set_request_timeout_ms(o, soon(number)),
                15 => leafid_segments_options_set_connect_timeout_ms(o, soon(number)),
                16 => leafid_segments_options_set_connections(o, number),
                17 => leafid_segments_options_set_block_size(o, number),
                18 => leafid_segments_options_set_token(o, memory.text(input)),
                19 => leafid_segments_options_add_header(o, memory.text(input), memory.text(input)),
                20 => leafid_segments_options_add_file_tag(o, memory.text(input), number, input.number()),
                _ => {
                    let (data, back) = (callbacks::given(), Some(callbacks::give_back as _));
                    leafid_segments_options_set_fetch(o, None, data, back)
                }
            }
        };
        assert!(!status_of(status) || !o.is_null());
    }

    unsafe fn open_segments(&mut self, input: &mut Input<'_>) {
        let mut memory = Memory::new(input.byte());
        let Some(&(o, source)) = self.segments.options.get(input.below(MOST)) else { return };
        let mut segments = null_mut();
        // SAFETY: as said by the caller.
        unsafe {
            if !status_of(leafid_segments_open(o, memory.out(&mut segments))) || memory.is_odd() {
                return;
            }
            if self.segments.segments.len() == MOST {
                leafid_segments_free(self.segments.segments.remove(0).0);
            }
        }
        self.segments.segments.push((segments, source));
    }

    unsafe fn open_tag(&mut self, input: &mut Input<'_>) {
        let mut memory = Memory::new(input.byte());
        let chosen = self.segments.segments.get(input.below(MOST)).copied();
        let (segments, source) = chosen.unwrap_or((null_mut(), Source::None));
        let name = match input.byte() {
            odd @ 240.. => {
                let _ = odd;
                memory.text(input)
            }
            at => memory.own(TAGS[usize::from(at) % TAGS.len()].as_bytes().to_vec()),
        };
        let mut tag = null_mut();
        // SAFETY: as said by the caller.
        unsafe {
            if !status_of(leafid_segments_tag(segments, name, memory.out(&mut tag))) || memory.is_odd() {
                return;
            }
            if self.segments.tags.len() == MOST {
                leafid_tag_free(self.segments.tags.remove(0).0);
            }
        }
        self.segments.tags.push((tag, source));
    }

    unsafe fn ids_of_tag(&mut self, input: &mut Input<'_>) {
        let mut memory = Memory::new(input.byte());
        let Some(&(tag, source)) = self.segments.tags.get(input.below(MOST)) else {
            // SAFETY: NULL is refused.
            assert!(!status_of(unsafe { leafid_tag_next(null_mut(), &mut 0) }));
            return;
        };
        let (mut id, mut ids, mut taken) = (-1, Vec::new(), null_mut());
        let within = soon(input.number());
        // SAFETY: as said by the caller; `fill` has the room that is passed, or refuses so much.
        unsafe {
            match input.byte() % 7 {
                how @ 0..=3 => {
                    let out = memory.out(&mut id);
                    let status = match how {
                        0 => leafid_tag_next(tag, out),
                        1 => leafid_tag_next_within(tag, within, out),
                        _ => leafid_tag_try_next(tag, out),
                    };
                    if status_of(status) && !memory.is_odd() {
                        ids.push(id);
                    }
                }
                how @ 4..=5 => {
                    let n = count(input);
                    let mut room = vec![-1; if n > 1 << 24 { 1 } else { n }].into_boxed_slice();
                    let status = match how {
                        4 => leafid_tag_fill(tag, room.as_mut_ptr(), n),
                        _ => leafid_tag_fill_within(tag, within, room.as_mut_ptr(), n),
                    };
                    if status_of(status) {
                        ids = room.into_vec();
                    }
                    assert!(!status_of(leafid_tag_fill(tag, null_mut(), 1)));
                }
                _ => {
                    let n = count(input);
                    if status_of(leafid_tag_take(tag, n, memory.out(&mut taken))) && !memory.is_odd() {
                        ids = taken_ids(taken, n);
                    }
                }
            }
            match source {
                Source::None => {}
                Source::Callback => self.issued("callback", &ids),
                Source::File => {
                    let name = Memory::new(0).written(input, |b, cap, n| leafid_tag_name(tag, b, cap, n));
                    self.issued(&format!("file {name:?}"), &ids);
                }
            }
        }
    }

    unsafe fn ask_segments(&mut self, input: &mut Input<'_>) {
        let mut memory = Memory::new(input.byte());
        let at = input.below(MOST);
        let s = self.segments.segments.get(at).map_or(null_mut(), |(segments, _)| *segments);
        // SAFETY: as said by the caller.
        unsafe {
            match input.byte() % 6 {
                0 => asked(leafid_segments_close(s)),
                1 if !s.is_null() => leafid_segments_free(self.segments.segments.remove(at).0),
                2 => drop(memory.written(input, |b, cap, n| leafid_segments_name(s, b, cap, n))),
                3 => drop(memory.written(input, |b, cap, n| leafid_segments_source(s, b, cap, n))),
                4 => drop(memory.written(input, |b, cap, n| leafid_segments_state_dir(s, b, cap, n))),
                _ => drop(memory.written(input, |b, cap, n| leafid_segments_tags(s, b, cap, n))),
            }
        }
    }

    unsafe fn ask_tag(&mut self, input: &mut Input<'_>) {
        let mut memory = Memory::new(input.byte());
        let at = input.below(MOST);
        let t = self.segments.tags.get(at).map_or(null_mut(), |(tag, _)| *tag);
        // SAFETY: as said by the caller.
        unsafe {
            match input.byte() % 4 {
                0 if !t.is_null() => leafid_tag_free(self.segments.tags.remove(at).0),
                1 => {
                    let size = input.number() as usize;
                    let mut room = vec![-1_i64; size.min(1 << 16).div_ceil(8).max(1)];
                    asked(leafid_tag_stats(t, room.as_mut_ptr().cast(), size));
                }
                2 => drop(memory.written(input, |b, cap, n| leafid_tag_last_error(t, b, cap, n))),
                _ => drop(memory.written(input, |b, cap, n| leafid_tag_name(t, b, cap, n))),
            }
        }
    }
}

const TAGS: [&str; 4] = ["order", "user", "a/b.c", "日本"];
