//! The double buffer: ids in order, each once, and the next fetch asked for in time.

use leafid_core::segment::{AdaptiveStep, Filler};
use leafid_core::{DoubleBuffer, Run, Segment};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

fn vectors(name: &str) -> Value {
    let path = format!("{}/../tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A process of the vectors: a buffer that fetches when the vector says so.
struct Process {
    buffer: DoubleBuffer,
    filler: Filler,
    step: AdaptiveStep,
    now_ms: i64,
}

impl Process {
    fn new(db_step: i64) -> Process {
        let (buffer, filler) = DoubleBuffer::new();
        Process { buffer, filler, step: AdaptiveStep::new(db_step, true), now_ms: 0 }
    }

    fn fetch(&mut self, max_id: &mut i64, db_step: i64) {
        self.now_ms += 1_000;
        let step = self.step.wanted(self.now_ms);
        let segment = Segment::new(*max_id, *max_id + step, 1).unwrap();
        *max_id += step;
        self.step.fetched(step, db_step, self.now_ms);
        self.buffer.offer(&mut self.filler, segment, 10).unwrap();
    }

    fn next(&mut self, max_id: &mut i64, db_step: i64) -> i64 {
        loop {
            match self.buffer.take() {
                Ok((id, wants_fetch)) => {
                    if wants_fetch {
                        self.fetch(max_id, db_step);
                    }
                    return id;
                }
                Err(_) => self.fetch(max_id, db_step),
            }
        }
    }
}

#[test]
fn ids_are_issued_as_in_the_vectors() {
    for case in vectors("segment_issue")["cases"].as_array().unwrap() {
        let parse = |value: &Value| value.as_str().unwrap().parse::<i64>().unwrap();
        let list = |name: &str| case[name].as_array().map(|all| all.iter().map(parse).collect::<Vec<_>>());
        let (mut max_id, db_step) = (parse(&case["max_id"]), case["db_step"].as_i64().unwrap());
        let from = max_id;
        let mut processes: Vec<Process> =
            (0..case["processes"].as_u64().unwrap()).map(|_| Process::new(db_step)).collect();
        if let Some(expected) = list("first") {
            let issued: Vec<i64> = expected.iter().map(|_| processes[0].next(&mut max_id, db_step)).collect();
            assert_eq!(issued, expected, "{case}");
            if case["contiguous_through"].is_string() {
                for id in from + issued.len() as i64..=parse(&case["contiguous_through"]) {
                    assert_eq!(processes[0].next(&mut max_id, db_step), id);
                }
            }
        }
        if let Some(expected) = list("round_robin") {
            let count = processes.len();
            for (n, expected) in expected.into_iter().enumerate() {
                assert_eq!(processes[n % count].next(&mut max_id, db_step), expected, "{case}");
            }
        }
    }
}

#[test]
fn many_threads_take_each_id_once_while_the_buffer_turns_over() {
    const SEGMENTS: i64 = 20_000;
    for length in [1, 2, 7] {
        let (buffer, mut filler) = DoubleBuffer::new();
        let (done, short) = (AtomicBool::new(false), AtomicUsize::new(0));
        let all = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (buffer, done, short, all) = (&buffer, &done, &short, &all);
                scope.spawn(move || {
                    let mut mine = Vec::new();
                    loop {
                        let last = done.load(SeqCst);
                        let run = match thread {
                            0 => buffer.take().map(|(id, _)| Run { first: id, stride: 1, count: 1 }),
                            1 => buffer.take_many(3).map(|(run, _)| run),
                            2 => buffer.take_run(3).map(|(run, _)| run),
                            _ => buffer.take_part(3, 2).map(|(run, _)| run),
                        };
                        let taken = run.map(|run| {
                            mine.extend((0..run.count as i64).map(|n| run.first + n * run.stride));
                        });
                        if taken.is_err() {
                            if last {
                                break;
                            }
                            short.fetch_add(1, SeqCst);
                            std::thread::yield_now();
                        }
                    }
                    assert!(mine.is_sorted(), "a thread's ids are in order");
                    all.lock().unwrap().extend(mine);
                });
            }
            for n in 0..SEGMENTS {
                let segment = Segment::new(n * length, (n + 1) * length, 1).unwrap();
                while buffer.offer(&mut filler, segment, 10).is_err() {
                    std::thread::yield_now();
                }
            }
            done.store(true, SeqCst);
        });
        let all = all.into_inner().unwrap();
        assert_eq!(all.len() as i64, SEGMENTS * length);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "each once");
        assert!(short.into_inner() > 0, "the buffer was never empty: nothing was tried");
    }
}
