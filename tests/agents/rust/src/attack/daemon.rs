//! `daemon`: opens a fixed id, turns into a daemon, whose parent exits, and asks for an id.

use crate::options::Options;
use crate::process::{self, End};
use leafid::Code;
use std::time::Instant;

/// Arguments: those of a generator, `rounds`.
pub fn run(options: &Options) -> Result<(), String> {
    let rounds = options.number("rounds", 200);
    let (mut got, mut slowest) = (0, 0);
    // The daemons come back to this process, which sees them end before the next round.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    let mut ids = Vec::new();
    for _ in 0..rounds {
        let mut pipe = [0; 2];
        unsafe { libc::pipe2(pipe.as_mut_ptr(), libc::O_CLOEXEC) };
        match unsafe { libc::fork() } {
            0 => {
                let flake = match options.open() {
                    Ok(flake) => flake,
                    Err(error) => {
                        eprintln!("open: {error}");
                        unsafe { libc::_exit(3) }
                    }
                };
                if options.number("first", 0) != 0 && flake.next().is_err() {
                    unsafe { libc::_exit(4) };
                }
                // Its parent leaves by _exit; standard error stays.
                unsafe { libc::daemon(0, 1) };
                let begun = Instant::now();
                let text = loop {
                    match flake.next() {
                        Ok(id) => break format!("{id} {}", begun.elapsed().as_micros()),
                        // Its parent has not ended within half a second: the next call tries again.
                        Err(error)
                            if error.code() == Code::WorkerInUse && begun.elapsed() < process::HANGS => {}
                        Err(error) => break format!("error {error}"),
                    }
                };
                unsafe {
                    libc::write(pipe[1], text.as_ptr().cast(), text.len());
                    libc::_exit(0);
                }
            }
            pid => {
                unsafe { libc::close(pipe[1]) };
                let end = process::wait(pid);
                if end != End::Exit(0) {
                    return Err(format!("round {}: the daemon's parent: {end:?}", ids.len()));
                }
                let mut text = [0_u8; 512];
                let n = unsafe { libc::read(pipe[0], text.as_mut_ptr().cast(), text.len()) };
                unsafe {
                    libc::close(pipe[0]);
                    while libc::waitpid(-1, std::ptr::null_mut(), 0) > 0 {}
                }
                let text = String::from_utf8_lossy(&text[..n.max(0) as usize]).into_owned();
                match text.split_once(' ').map(|(id, micros)| (id.parse::<i64>(), micros.parse::<u64>())) {
                    Some((Ok(id), Ok(micros))) => {
                        got += 1;
                        slowest = micros.max(slowest);
                        ids.push(id);
                    }
                    _ => eprintln!("{text}"),
                }
            }
        }
    }
    let rising = ids.windows(2).all(|pair| pair[0] < pair[1]);
    println!("rounds={rounds} got={got} slowest_us={slowest} rising={rising}");
    Ok(())
}
