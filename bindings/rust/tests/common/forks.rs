//! Children of tests, and the ids that they say.

use super::HANG;
use super::programs::this_program;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, RawFd};

/// Runs `child` in a process made by `fork`, which writes ids; answers them once it has ended.
pub(crate) fn in_child(fork: fn() -> i32, child: impl FnOnce(&mut dyn FnMut(i64))) -> Vec<i64> {
    let (pid, mut reader) = start_child(fork, child);
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    let mut status = 0;
    // SAFETY: waits for the child made above.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    assert_eq!(status, 0, "the child failed");
    bytes.chunks(8).map(|id| i64::from_ne_bytes(id.try_into().unwrap())).collect()
}

pub(crate) fn start_child(
    fork: fn() -> i32,
    child: impl FnOnce(&mut dyn FnMut(i64)),
) -> (i32, std::fs::File) {
    let mut ends: [RawFd; 2] = [0; 2];
    // SAFETY: two descriptors are written.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    match fork() {
        0 => {
            // SAFETY: this process's own end, used once.
            let mut writer = unsafe { std::fs::File::from_raw_fd(ends[1]) };
            let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                child(&mut |id| writer.write_all(&id.to_ne_bytes()).unwrap());
            }));
            // SAFETY: ends this process without its parent's exit handlers.
            unsafe { libc::_exit(i32::from(ran.is_err())) }
        }
        pid => {
            assert!(pid > 0);
            // SAFETY: closed once; the other end is owned from here on.
            unsafe { libc::close(ends[1]) };
            // SAFETY: as above.
            (pid, unsafe { std::fs::File::from_raw_fd(ends[0]) })
        }
    }
}

pub(crate) fn plain_fork() -> i32 {
    // SAFETY: the child runs this test's own code only.
    unsafe { libc::fork() }
}

const ALONE: &str = "LEAFID_TEST_ALONE";

/// Whether this process runs one test alone, as [`raw_clone`] needs; else the test is run so, and nothing is left to do.
pub(crate) fn alone(test: &str) -> bool {
    alone_where(test, &[])
}

/// As [`alone`], with these variables in the environment.
pub(crate) fn alone_where(test: &str, variables: &[(&str, &str)]) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut command = this_program();
    command.args(["--exact", test, "--nocapture"]).env(ALONE, "1").envs(variables.iter().copied());
    let ran = command.output().unwrap();
    let said = [ran.stdout, ran.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
    false
}

pub(crate) fn raw_clone() -> i32 {
    // The C library does not notice: locks stand as other threads have them. Those of leafid take account of that, and
    // `bump_malloc.rs` has none.
    assert!(std::env::var_os(ALONE).is_some(), "other tests run beside");
    // SAFETY: fork's arguments: no shared memory, no handlers run.
    let pid = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as i32 };
    if pid == 0 {
        // SAFETY: ends the child if it waits for such a lock after all.
        unsafe { libc::alarm(HANG.as_secs() as u32) };
    }
    pid
}

/// Runs `child` in a child that shares this process's memory, as one of `vfork` does, while this thread stands still;
/// answers how it ended. On a stack of its own: what it returns over is not the parent's.
#[allow(dead_code)]
pub(crate) fn in_shared_memory(mut child: &mut dyn FnMut()) -> i32 {
    extern "C" fn run(child: *mut libc::c_void) -> i32 {
        // SAFETY: what is passed below, whose owner waits.
        let child = unsafe { &mut *child.cast::<&mut dyn FnMut()>() };
        i32::from(std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).is_err())
    }
    let mut stack = vec![0_u128; 16 * 1024];
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let argument = std::ptr::from_mut(&mut child).cast();
    // SAFETY: the stack is aligned, and the child's alone until it has ended, for which CLONE_VFORK waits.
    let pid = unsafe { libc::clone(run, stack.as_mut_ptr_range().end.cast(), flags, argument) };
    assert!(pid > 0);
    let mut status = -1;
    // SAFETY: waits for the child made above.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    status
}

/// From here on these system calls fail with EPERM in this thread and what it starts, as where a service is restricted.
/// seccomp(2)
#[cfg(target_os = "linux")]
pub(crate) fn refuse_calls(calls: &[libc::c_long]) {
    let step = |code: u32, k, jt| libc::sock_filter { code: code as u16, jt, jf: 0, k };
    let number = std::mem::offset_of!(libc::seccomp_data, nr) as u32;
    let mut steps = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, number, 0)];
    // Over those that follow, and over what allows the call.
    let compared = calls.iter().zip((1..=calls.len() as u8).rev());
    steps.extend(
        compared.map(|(&call, over)| step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, call as u32, over)),
    );
    for answer in [libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32] {
        steps.push(step(libc::BPF_RET | libc::BPF_K, answer, 0));
    }
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: the kernel copies the program during the call.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    assert!(done, "{}", std::io::Error::last_os_error());
}
