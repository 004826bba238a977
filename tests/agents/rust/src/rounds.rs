//! The actions of `serve` that run many times in one command: open and close, fork.

use crate::issuer::{Issuer, Opened, text};
use crate::options::Options;
use crate::process::{End, Kind, fork, wait};
use std::collections::HashSet;

/// Opens, makes an id and closes, this many times: how many ids, and whether they rose.
pub fn open_and_close(options: &Options, count: u64) -> Result<String, String> {
    let (mut last, mut rising) = (0, true);
    for _ in 0..count {
        let opened = Opened::open(options).map_err(text)?;
        let id = opened.issuer("order").and_then(|issuer| issuer.next()).map_err(text)?;
        opened.close().map_err(text)?;
        rising &= id > last;
        last = id;
    }
    Ok(format!("{count} {rising}"))
}

/// This many children one after another, each of which makes an id and ends by `exit`, as does the parent after each:
/// how many ids, how many of them differ, and how many children failed.
pub fn forks(issuer: &Issuer, count: u64) -> Result<String, String> {
    let (mut ids, mut failed) = (Vec::new(), 0);
    for _ in 0..count {
        let mut ends = [0; 2];
        unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) };
        let [read, write] = ends;
        let pid = fork(Kind::Fork);
        if pid == 0 {
            let told = issuer.next().is_ok_and(|id| unsafe {
                libc::write(write, (&raw const id).cast(), size_of_val(&id)) == size_of_val(&id) as isize
            });
            std::process::exit(i32::from(!told));
        }
        let mut id = 0i64;
        let told = unsafe {
            libc::close(write);
            let told = libc::read(read, (&raw mut id).cast(), size_of_val(&id)) == size_of_val(&id) as isize;
            libc::close(read);
            told
        };
        if wait(pid) == End::Exit(0) && told {
            ids.push(id);
        } else {
            failed += 1;
        }
        ids.push(issuer.next().map_err(text)?);
    }
    let distinct: HashSet<i64> = ids.iter().copied().collect();
    Ok(format!("{} {} {failed}", ids.len(), distinct.len()))
}
