//! The generation is in a page that the kernel wipes in a forked child (MADV_WIPEONFORK). So it also detects `_Fork`, a
//! raw clone and a fork in a signal handler, which skip `pthread_atfork`. The atfork handlers are needed too: they close
//! inherited locks in a child that never uses the library.
//!
//! Linux before 4.14, qemu-user and macOS wipe no page. There each call compares the process id. That does not tell a raw
//! clone from a child of `vfork`, which must not take its parent's state away. So both are refused.

use super::{FORK_WAITS, ForkHooks, ForkOrder};
use crate::os::inherited_fds;
use rustix::process::{WaitId, WaitIdOptions};
use std::ptr;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed,
    Ordering::Release, Ordering::SeqCst, compiler_fence, fence,
};

/// The wiped page; null before the first use, and where none is wiped.
static PAGE: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());
/// The generation: in that page, or in `UNWIPED`. Null before the first use.
static WORD: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());
/// The generation where no page is wiped: the process id in the high half, and a count.
static UNWIPED: AtomicU64 = AtomicU64::new(0);
/// The generation of all processes that no handler has prepared, where no page is wiped. No generator has it.
const UNKNOWN: u64 = u64::MAX;
/// The highest generation of this process and its ancestors. It is raised before the page is written.
static HIGHEST: AtomicU64 = AtomicU64::new(0);
/// The number of forks that have begun, in the low half; the number of running forks, in the high half.
static FORKS: AtomicU64 = AtomicU64::new(0);
const UNDER_WAY: u64 = 1 << 32;
/// The process that called `enter` last; 0 before the first.
static PROCESS: AtomicU32 = AtomicU32::new(0);
/// Whether this is a forked child for which no handler ran.
static RAW: AtomicBool = AtomicBool::new(false);
/// The hooks of the modules.
static AT_FORK: [AtomicPtr<ForkHooks>; 5] = [const { AtomicPtr::new(ptr::null_mut()) }; 5];

/// Registers the hooks for each later fork of this process and its children. A second call with the same hooks is
/// allowed.
pub(crate) fn at_fork(order: ForkOrder, hooks: &'static ForkHooks) {
    AT_FORK[order as usize].store(ptr::from_ref(hooks).cast_mut(), Release);
}

fn hooks() -> impl Iterator<Item = &'static ForkHooks> {
    // SAFETY: null, or from a reference that lives for ever.
    AT_FORK.iter().filter_map(|hooks| unsafe { hooks.load(Acquire).as_ref() })
}

/// This process's generation, never 0. A child has another one before it uses any state of its parent.
#[inline]
pub(crate) fn generation() -> u64 {
    #[cfg(test)]
    if let Some(generation) = crate::os::simulated::played() {
        return generation;
    }
    // A fork in a signal handler returns in the middle of this thread: the compiler must not move earlier steps past
    // this.
    compiler_fence(SeqCst);
    let page = PAGE.load(Acquire);
    if !page.is_null() {
        // SAFETY: a page that was published is never unmapped.
        let generation = unsafe { (*page).load(Relaxed) };
        if generation != 0 {
            return generation;
        }
    }
    enter()
}

/// The wiped page. It is taken before a step; if it is read after the step, it shows a fork in between.
#[derive(Clone, Copy)]
pub(crate) struct GenerationWatch(&'static AtomicU64);

/// The page, which never moves, also not in children. `None` where none is wiped: [`generation`] shows forks there too.
#[inline]
pub(crate) fn watch_generation() -> Option<GenerationWatch> {
    // SAFETY: as in `generation`.
    unsafe { PAGE.load(Acquire).as_ref() }.map(GenerationWatch)
}

impl GenerationWatch {
    /// Whether [`generation`] still returns this generation. False in a child that has none yet.
    #[inline]
    pub(crate) fn is_still(self, generation: u64) -> bool {
        #[cfg(test)]
        if let Some(played) = crate::os::simulated::played() {
            return generation == played;
        }
        // As in `generation`.
        compiler_fence(SeqCst);
        self.0.load(Relaxed) == generation
    }
}

/// The first call in this process, after the start or after a fork; each call where no page is wiped. It is
/// async-signal-safe once the word exists.
#[cold]
fn enter() -> u64 {
    let word = word();
    // Read before the word is found wiped: then the table is an ancestor's, whatever other threads do meanwhile.
    let inherited = inherited_fds::current_table();
    let is_wiped = !ptr::eq(word, &UNWIPED);
    let process = loop {
        let (generation, process) = (word.load(Acquire), std::process::id());
        if generation == 0 {
            break process;
        }
        if is_wiped || generation >> 32 == u64::from(process) {
            return generation;
        }
        // Otherwise a handler forked between the two.
        if word.load(Acquire) == generation {
            return UNKNOWN;
        }
    };
    inherited_fds::close_all(inherited);
    // In a child, one thread finds the parent's number here. In another process, threads find none or their own.
    let before = PROCESS.swap(process, AcqRel);
    if before != 0 && before != process {
        RAW.store(true, Relaxed);
        // The running forks are the parent's.
        FORKS.store(0, Relaxed);
        hooks().for_each(|hooks| (hooks.in_child)());
    }
    let count = HIGHEST.fetch_add(1, AcqRel) + 1;
    let next = if is_wiped { count } else { u64::from(process) << 32 | count };
    match word.compare_exchange(0, next, AcqRel, Acquire) {
        Ok(_) => next,
        Err(others) => others,
    }
}

fn word() -> &'static AtomicU64 {
    let word = WORD.load(Acquire);
    if !word.is_null() {
        // SAFETY: a page that was published is never unmapped.
        return unsafe { &*word };
    }
    let fresh = map_wiped().unwrap_or(&UNWIPED);
    // Before the word is published, because no child may have it without the handlers. A second call does no harm.
    stay_loaded();
    // SAFETY: the handlers are plain functions that stay loaded (see above) and touch atomics and descriptors only, but
    // for `before`, which runs in the forking thread.
    unsafe { libc::pthread_atfork(Some(before), Some(after_in_parent), Some(after_in_child)) };
    let fresh = ptr::from_ref(fresh).cast_mut();
    let word = match WORD.compare_exchange(ptr::null_mut(), fresh, AcqRel, Acquire) {
        Ok(_) => fresh,
        // Another thread was first. At most one page per thread is leaked.
        Err(others) => others,
    };
    if !ptr::eq(word, &UNWIPED) {
        PAGE.store(word, Release);
    }
    // SAFETY: as above.
    unsafe { &*word }
}

/// Linux's linkers mark the libraries so (-z nodelete).
#[cfg(target_os = "linux")]
fn stay_loaded() {}

/// Keeps the library with this code in the process: dlclose would take it from threads and fork handlers.
#[cfg(target_os = "macos")]
fn stay_loaded() {
    let mut own = std::mem::MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: an address in this library; what dladdr found is read if it found something.
    unsafe {
        if libc::dladdr(stay_loaded as *const () as *const libc::c_void, own.as_mut_ptr()) != 0 {
            libc::dlopen(
                own.assume_init().dli_fname,
                libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE,
            );
        }
    }
}

/// A zeroed word in a page of its own that a fork wipes. `None` if the kernel wipes none.
#[cfg(target_os = "linux")]
fn map_wiped() -> Option<&'static AtomicU64> {
    use rustix::mm::{MapFlags, ProtFlags};
    let length = rustix::param::page_size();
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a fresh anonymous mapping, which overlaps nothing.
    let page =
        unsafe { rustix::mm::mmap_anonymous(ptr::null_mut(), length, access, MapFlags::PRIVATE) }.ok()?;
    // SAFETY: advice for the whole of the mapping made above, which no other code knows yet.
    let advise = |advice| unsafe { libc::madvise(page, length, advice) } == 0;
    // qemu-user accepts every advice, and follows none.
    if advise(NO_ADVICE) || !advise(libc::MADV_WIPEONFORK) {
        // SAFETY: the mapping made above, which is unused.
        let _ = unsafe { rustix::mm::munmap(page, length) };
        return None;
    }
    // SAFETY: pages are zeroed and aligned, a valid AtomicU64, and this one is never unmapped.
    Some(unsafe { &*page.cast::<AtomicU64>() })
}

/// macOS can only take a page away from a child, so that its first look would end it.
#[cfg(not(target_os = "linux"))]
fn map_wiped() -> Option<&'static AtomicU64> {
    None
}

/// A number that no kernel has an advice for.
#[cfg(target_os = "linux")]
const NO_ADVICE: libc::c_int = 9_999;

/// Whether children of `_Fork` and of raw clones get ids.
#[cfg(feature = "cli")]
pub(crate) fn serves_raw_children() -> bool {
    generation();
    !PAGE.load(Acquire).is_null()
}

extern "C" fn before() {
    FORKS.fetch_add(UNDER_WAY + 1, AcqRel);
    hooks().for_each(|hooks| (hooks.before)(FORK_WAITS));
}

extern "C" fn after_in_parent() {
    FORKS.fetch_sub(UNDER_WAY, AcqRel);
    hooks().for_each(|hooks| (hooks.in_parent)());
}

extern "C" fn after_in_child() {
    FORKS.store(0, Relaxed);
    // It is wiped already, or it is `UNWIPED`.
    word().store(0, Relaxed);
    enter();
    RAW.store(false, Relaxed);
}

/// Whether the C library does not know that this is a forked child (`_Fork`, a raw clone). Then its locks may still be
/// held by threads of the parent.
pub(crate) fn is_raw_child() -> bool {
    generation();
    RAW.load(Relaxed)
}

/// The reason why this process can take ids from memory at most, if there is one. This is a system call: for slow paths
/// only.
pub(crate) fn why_no_work() -> Option<&'static str> {
    #[cfg(test)]
    if crate::os::simulated::played().is_some() {
        return None;
    }
    match generation() {
        UNKNOWN => Some(UNKNOWN_CHILD),
        _ => shares_memory().then_some(VFORK_CHILD),
    }
}

/// Whether this process shares the memory of another one, as a child of `vfork` or of a clone with CLONE_VM. Nothing is
/// wiped there, and ids from memory stay unique. But threads, descriptors and locks that it starts end with it, while
/// its parent takes them for its own.
fn shares_memory() -> bool {
    // Against the thread that enters: the process was written before the page.
    fence(Acquire);
    let (owner, this) = (PROCESS.load(Acquire), std::process::id());
    if owner == this {
        return false;
    }
    let Some(pid) = rustix::process::Pid::from_raw(owner as i32) else { return false };
    // Such a child may have been the first here, and has ended or called exec since.
    let ended = rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH);
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    if ended || rustix::process::waitid(WaitId::Pid(pid), options).is_ok() {
        let _ = PROCESS.compare_exchange(owner, this, AcqRel, Acquire);
        return false;
    }
    true
}

const VFORK_CHILD: &str = "this process is a child of vfork, which shares the memory of its parent: it takes ids that \
                           are at hand, and nothing else; call exec first, or fork by fork()";

const UNKNOWN_CHILD: &str = "this process is a child of vfork, _Fork or a raw clone, and this system cannot tell which: it \
                             wipes no memory in a fork (Linux does since 4.14); call exec first, or fork by fork()";

/// The reason why this process can start no thread, if there is one.
pub(crate) fn why_no_threads() -> Option<&'static str> {
    why_no_work().or_else(|| {
        is_raw_child().then_some(
            "this process is a child of _Fork or a raw clone, in which leafid makes no thread; fork by fork()",
        )
    })
}

/// The number of forks that have begun. Waits until none is running, but not for long, because a signal handler may
/// have interrupted a fork of its own thread.
pub(crate) fn forks() -> u64 {
    for _ in 0..1_000 {
        let forks = FORKS.load(Acquire);
        if forks < UNDER_WAY {
            return forks;
        }
        std::thread::sleep(std::time::Duration::from_micros(50));
    }
    FORKS.load(Acquire)
}

/// The user of this process, for messages.
pub(crate) fn user() -> String {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    format!("user {user} and group {group}")
}

/// The start time of a process in Unix milliseconds, from /proc.
#[cfg(target_os = "linux")]
pub(crate) fn started_ms(pid: u32) -> Option<i64> {
    use std::fs;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command may contain spaces and brackets, so the fields are counted from its last bracket. proc(5), field 22.
    let ticks: i64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    let boot = fs::read_to_string("/proc/stat").ok()?;
    let boot_s: i64 = boot.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(boot_s * 1_000 + ticks * 1_000 / rustix::param::clock_ticks_per_second() as i64)
}

/// The start time of a process in Unix milliseconds.
#[cfg(target_os = "macos")]
pub(crate) fn started_ms(pid: u32) -> Option<i64> {
    let mut found = std::mem::MaybeUninit::<libc::proc_bsdinfo>::uninit();
    let size = size_of::<libc::proc_bsdinfo>() as libc::c_int;
    // SAFETY: at most `size` bytes are written.
    let written = unsafe {
        libc::proc_pidinfo(pid as libc::c_int, libc::PROC_PIDTBSDINFO, 0, found.as_mut_ptr().cast(), size)
    };
    // SAFETY: it was written whole.
    let found = (written == size).then(|| unsafe { found.assume_init() })?;
    Some(found.pbi_start_tvsec as i64 * 1_000 + found.pbi_start_tvusec as i64 / 1_000)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_began_when_it_was_started() {
        let now_ms = || crate::os::clock::now_ms();
        let before = now_ms();
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let after = now_ms();
        let began = started_ms(child.id()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        // The kernel gives the start of the machine in whole seconds.
        assert!((before - 1_100..after + 1_100).contains(&began), "{before} {began} {after}");
    }
}
