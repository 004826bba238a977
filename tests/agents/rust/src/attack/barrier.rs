//! `barrier`: as many processes as there are ids, released at one moment.

use crate::ledger::Ledger;
use crate::options::Options;
use crate::process::{self, End};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Arguments: `dir`, `name`, `rounds`, `processes`. Every second round begins in a directory that does not exist yet, and
/// is an id space of its own: its ids may be those of another round, and are judged apart.
pub fn run(options: &Options) -> Result<(), String> {
    let (rounds, processes) = (options.number("rounds", 50), options.number("processes", 8));
    let ledger = Ledger::new(1 << 20);
    let apart: Vec<Ledger> = (0..rounds).map(|_| Ledger::new(64)).collect();
    let (name, dir) = (options.text("name").unwrap_or("default"), options.text("dir").unwrap_or("."));
    let (mut started, mut slowest) = (0, 0);
    for round in 0..rounds {
        let fresh = if round % 2 == 0 { 0 } else { round };
        let space = if fresh == 0 { ledger } else { apart[round as usize] };
        let shared = shared(4);
        let children: Vec<i32> = (0..processes)
            .map(|_| match unsafe { libc::fork() } {
                0 => {
                    shared[0].fetch_add(1, SeqCst);
                    while shared[1].load(SeqCst) == 0 {
                        std::hint::spin_loop();
                    }
                    let begun = Instant::now();
                    let opened = options
                        .builder()
                        .name(format!("{name}-{fresh}"))
                        .state_dir(format!("{dir}/{fresh}"))
                        .worker(format!("0-{}", processes - 1))
                        .open();
                    shared[3].fetch_max(begun.elapsed().as_micros() as u64, SeqCst);
                    let issued = opened.and_then(|flake| Ok((flake.next()?, flake)));
                    shared[2].fetch_add(1, SeqCst);
                    match issued {
                        Ok((id, flake)) => {
                            space.push(id);
                            // Held until all have had their turn.
                            while shared[2].load(SeqCst) < processes {
                                std::thread::sleep(Duration::from_micros(200));
                            }
                            if round % 3 == 0 {
                                unsafe { libc::_exit(0) };
                            }
                            drop(flake);
                            unsafe { libc::_exit(0) }
                        }
                        Err(error) => {
                            eprintln!("round {round}: {error}");
                            unsafe { libc::_exit(4) }
                        }
                    }
                }
                pid => pid,
            })
            .collect();
        while shared[0].load(SeqCst) < processes {
            std::thread::sleep(Duration::from_micros(100));
        }
        shared[1].store(1, SeqCst);
        let ends = children.into_iter().map(process::wait);
        started += ends.filter(|&end| end == End::Exit(0)).count();
        slowest = slowest.max(shared[3].load(SeqCst));
    }
    let (all, odd) = (ledger.judge(), apart.iter().map(Ledger::judge));
    let (ids, twice) = odd.fold((0, 0), |(ids, twice), one| (ids + one.ids, twice + one.duplicates));
    let of = rounds * processes;
    println!("started={started} of={of} slowest_us={slowest} apart={ids} apart_twice={twice} {}", all.line());
    Ok(())
}

fn shared(n: usize) -> &'static [AtomicU64] {
    let memory = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            n * 8,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    assert!(memory != libc::MAP_FAILED, "no shared memory");
    unsafe { std::slice::from_raw_parts(memory.cast(), n) }
}
