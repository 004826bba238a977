//! Forks of every kind, waits with a bound, and what the kernel tells of this process.

use std::time::{Duration, Instant};

/// How a child is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `fork`, with the handlers of `pthread_atfork`.
    Fork,
    /// `_Fork`, without them.
    Bare,
    /// The `clone` system call, past the C library.
    Clone,
}

impl Kind {
    /// Reads `fork`, `_fork` or `clone`.
    pub fn parse(text: &str) -> Kind {
        match text {
            "_fork" => Kind::Bare,
            "clone" => Kind::Clone,
            _ => Kind::Fork,
        }
    }
}

unsafe extern "C" {
    fn _Fork() -> libc::pid_t;
}

/// Forks: 0 in the child, its pid in the parent, negative on an error.
pub fn fork(kind: Kind) -> i32 {
    match kind {
        Kind::Fork => unsafe { libc::fork() },
        Kind::Bare => unsafe { _Fork() },
        Kind::Clone => unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as i32 },
    }
}

/// Starts a thread that takes no signal.
pub fn spawn_quietly(run: impl FnOnce() + Send + 'static) {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let mut old = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), old.as_mut_ptr());
    }
    std::thread::spawn(run);
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, old.as_ptr(), std::ptr::null_mut()) };
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this exit status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// It hung, and was killed.
    Hung,
}

/// A child that has not ended by then hangs, on any machine under any load.
pub const HANGS: Duration = Duration::from_secs(300);

/// Waits for a child, and kills one that hangs.
pub fn wait(pid: i32) -> End {
    let begun = Instant::now();
    let mut status = 0;
    loop {
        match unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) } {
            0 if begun.elapsed() > HANGS => unsafe {
                libc::kill(pid, libc::SIGKILL);
                libc::waitpid(pid, &raw mut status, 0);
                return End::Hung;
            },
            0 => std::thread::sleep(Duration::from_micros(500)),
            _ if libc::WIFEXITED(status) => return End::Exit(libc::WEXITSTATUS(status)),
            _ => return End::Signal(libc::WTERMSIG(status)),
        }
    }
}

/// Entries of a directory of /proc/self.
pub fn count(directory: &str) -> usize {
    std::fs::read_dir(format!("/proc/self/{directory}")).map(Iterator::count).unwrap_or(0)
}

/// Threads of this process, once those that have ended are gone.
pub fn threads() -> usize {
    let begun = Instant::now();
    while count("task") > 1 && begun.elapsed() < Duration::from_millis(300) {
        std::thread::sleep(Duration::from_millis(5));
    }
    count("task")
}

/// Resident memory of this process, bytes.
pub fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|field| field.parse::<usize>().ok()).unwrap_or(0) * 4096
}
