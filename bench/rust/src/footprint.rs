//! What generators cost a process besides time: threads, and memory.

use crate::harness::measured;
use crate::ours::builder;

const GENERATORS: usize = 1_000;

pub fn measure() {
    let Some(before) = threads() else { return eprintln!("skipped: no /proc/self/task to count threads in") };
    let flake = builder().open().expect("open");
    let opened = threads().unwrap_or(0) - before;
    flake.next().expect("an id");
    let used = threads().unwrap_or(0) - before;
    measured("threads before the first id", opened as f64, 0.0);
    measured("threads while in use", used as f64, 0.0);
    // A file and a socket for each, and what the process has besides.
    raise_open_files(GENERATORS as u64 * 2 + 100);
    let rss = rss_bytes();
    let mut all = Vec::with_capacity(GENERATORS);
    for worker in 0..GENERATORS as u32 {
        let one = builder().worker(worker).open().expect("open");
        one.next().expect("an id");
        all.push(one);
    }
    measured("KiB a generator", (rss_bytes() - rss) as f64 / 1024.0 / GENERATORS as f64, 0.0);
    measured("threads with 1000 in use", (threads().unwrap_or(0) - before) as f64, 0.0);
}

pub fn threads() -> Option<usize> {
    std::fs::read_dir("/proc/self/task").ok().map(Iterator::count)
}

pub fn rss_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    // SAFETY: takes a number, returns a number.
    pages * unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64
}

pub fn raise_open_files(least: u64) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to an rlimit.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    limit.rlim_cur = limit.rlim_cur.max(least).min(limit.rlim_max);
    // SAFETY: as above.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) };
}
