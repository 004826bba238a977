//! The process generation: a number that no ancestor of this process had.
//!
//! It is in a page that the kernel wipes in a forked child (MADV_WIPEONFORK). So it also detects `_Fork`, a raw clone
//! and a fork in a signal handler, which skip `pthread_atfork`. The atfork handlers are needed too: they close
//! inherited locks in a child that never uses the library, and they serve kernels without MADV_WIPEONFORK.

use super::inherited_fds;
use rustix::mm::{Advice, MapFlags, ProtFlags};
use rustix::process::{WaitId, WaitIdOptions};
use std::ptr;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed,
    Ordering::Release, Ordering::SeqCst, compiler_fence, fence,
};

/// The wiped page; null before the first use.
static PAGE: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());
/// The highest generation of this process and its ancestors. It is raised before the page is written.
static HIGHEST: AtomicU64 = AtomicU64::new(0);
/// The number of forks that have begun, in the low half; the number of running forks, in the high half.
static FORKS: AtomicU64 = AtomicU64::new(0);
const UNDER_WAY: u64 = 1 << 32;
/// The process that called `enter` last; 0 before the first.
static PROCESS: AtomicU32 = AtomicU32::new(0);
/// Whether the kernel wipes the page in a child.
static WIPES_ON_FORK: AtomicBool = AtomicBool::new(false);
/// Whether this is a forked child for which no handler ran.
static RAW: AtomicBool = AtomicBool::new(false);
/// The hooks of the modules.
static AT_FORK: [AtomicPtr<ForkHooks>; 5] = [const { AtomicPtr::new(ptr::null_mut()) }; 5];

/// The actions of a module around a fork.
pub(crate) struct ForkHooks {
    /// Runs in the parent before the fork.
    pub(crate) before: fn(),
    /// Runs in the parent after the fork.
    pub(crate) in_parent: fn(),
    /// Runs in a child when it first enters. It must be async-signal-safe: the child's other threads are gone, and may have
    /// held any lock.
    pub(crate) in_child: fn(),
}

impl ForkHooks {
    /// Hooks that do nothing, for those that a module does not need.
    pub(crate) const NONE: ForkHooks = ForkHooks { before: || {}, in_parent: || {}, in_child: || {} };
}

/// The modules with hooks, in the order of the calls.
#[derive(Clone, Copy)]
pub(crate) enum ForkOrder {
    Fetches,
    Renewals,
    UserCalls,
    Timeouts,
    /// The last one, because the others may log.
    Logs,
}

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
    if let Some(generation) = super::simulated::played() {
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

/// The address of the generation. It is taken before a step; if it is read after the step, it shows a fork in between.
#[derive(Clone, Copy)]
pub(crate) struct GenerationWatch(Option<&'static AtomicU64>);

/// Finds the page if it is mapped. It never moves, also not in children.
#[inline]
pub(crate) fn watch_generation() -> GenerationWatch {
    // SAFETY: as in `generation`.
    GenerationWatch(unsafe { PAGE.load(Acquire).as_ref() })
}

impl GenerationWatch {
    /// Whether [`generation`] still returns this generation. False in a child that has none yet.
    #[inline]
    pub(crate) fn is_still(self, generation: u64) -> bool {
        #[cfg(test)]
        if let Some(played) = super::simulated::played() {
            return generation == played;
        }
        // As in `generation`.
        compiler_fence(SeqCst);
        self.0.is_some_and(|page| page.load(Relaxed) == generation)
    }
}

/// The first call in this process, after the start or after a fork. It is async-signal-safe once the page exists.
#[cold]
fn enter() -> u64 {
    let page = page();
    // Read before the page is found wiped: then the table is an ancestor's, whatever other threads do meanwhile.
    let inherited = inherited_fds::current_table();
    let generation = page.load(Acquire);
    if generation != 0 {
        return generation;
    }
    inherited_fds::close_all(inherited);
    // In a child, one thread finds the parent's number here. In another process, threads find none or their own.
    let process = std::process::id();
    let before = PROCESS.swap(process, AcqRel);
    if before != 0 && before != process {
        RAW.store(true, Relaxed);
        // The running forks are the parent's.
        FORKS.store(0, Relaxed);
        hooks().for_each(|hooks| (hooks.in_child)());
    }
    let next = HIGHEST.fetch_add(1, AcqRel) + 1;
    match page.compare_exchange(0, next, AcqRel, Acquire) {
        Ok(_) => next,
        Err(others) => others,
    }
}

fn page() -> &'static AtomicU64 {
    let page = PAGE.load(Acquire);
    if !page.is_null() {
        // SAFETY: as in `generation`.
        return unsafe { &*page };
    }
    let (fresh, wiped) = map();
    // Before the page is published, because no child may have the page without the handlers. A second call does no
    // harm.
    // SAFETY: the handlers are plain functions that stay loaded (the C library links with -z nodelete) and touch
    // atomics and descriptors only, but for `before`, which runs in the forking thread.
    unsafe { libc::pthread_atfork(Some(before), Some(after_in_parent), Some(after_in_child)) };
    match PAGE.compare_exchange(ptr::null_mut(), fresh, AcqRel, Acquire) {
        Ok(_) => {
            WIPES_ON_FORK.store(wiped, Relaxed);
            if !wiped {
                log::warn!(
                    "leafid: MADV_WIPEONFORK is not available here; forks that skip pthread_atfork are not seen"
                );
            }
            // SAFETY: just published.
            unsafe { &*fresh }
        }
        // Another thread was first. At most one page per thread is leaked.
        // SAFETY: published by that thread.
        Err(others) => unsafe { &*others },
    }
}

/// A zeroed word in a page of its own, and whether a fork wipes it.
fn map() -> (*mut AtomicU64, bool) {
    let length = rustix::param::page_size();
    // SAFETY: a fresh anonymous mapping, which overlaps nothing.
    let page = unsafe {
        rustix::mm::mmap_anonymous(
            ptr::null_mut(),
            length,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE,
        )
    };
    let Ok(page) = page else { return (Box::leak(Box::new(AtomicU64::new(0))), false) };
    // SAFETY: the whole of the mapping made above, which nobody else knows yet.
    let wiped = unsafe { rustix::mm::madvise(page, length, Advice::LinuxWipeOnFork) }.is_ok();
    // Pages are zeroed and aligned: a valid AtomicU64.
    (page.cast(), wiped)
}

/// Whether forks that skip `pthread_atfork` are detected.
#[cfg(feature = "cli")]
pub(crate) fn sees_every_fork() -> bool {
    generation();
    WIPES_ON_FORK.load(Relaxed)
}

extern "C" fn before() {
    FORKS.fetch_add(UNDER_WAY + 1, AcqRel);
    hooks().for_each(|hooks| (hooks.before)());
}

extern "C" fn after_in_parent() {
    FORKS.fetch_sub(UNDER_WAY, AcqRel);
    hooks().for_each(|hooks| (hooks.in_parent)());
}

extern "C" fn after_in_child() {
    FORKS.store(0, Relaxed);
    let page = PAGE.load(Acquire);
    if !page.is_null() {
        // For kernels that did not wipe it. SAFETY: as in `generation`.
        unsafe { (*page).store(0, Relaxed) };
    }
    generation();
    RAW.store(false, Relaxed);
}

/// Whether the C library does not know that this is a forked child (`_Fork`, a raw clone). Then its locks may still be
/// held by threads of the parent.
pub(crate) fn is_raw_child() -> bool {
    generation();
    RAW.load(Relaxed)
}

/// Whether this process shares the memory of another one, as a child of `vfork` or of a clone with CLONE_VM. Nothing is
/// wiped there, and ids from memory stay unique. But threads, descriptors and locks that it starts end with it, while
/// its parent takes them for its own. This is a system call: for slow paths only.
pub(crate) fn shares_memory() -> bool {
    #[cfg(test)]
    if super::simulated::played().is_some() {
        return false;
    }
    generation();
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

/// The error text of a child of `vfork`.
pub(crate) const VFORK_CHILD: &str = "this process is a child of vfork, which shares the memory of its parent: it takes ids that \
                                are at hand, and nothing else; call exec first, or fork by fork()";

/// The reason why this process can start no thread, if there is one.
pub(crate) fn why_no_threads() -> Option<&'static str> {
    if shares_memory() {
        return Some(VFORK_CHILD);
    }
    is_raw_child().then_some(
        "this process is a child of _Fork or a raw clone, in which leafid makes no thread; fork by fork()",
    )
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
