//! Windows has no fork: a process keeps its generation, and no hook ever runs.

use super::{ForkHooks, ForkOrder};

pub(crate) fn at_fork(_: ForkOrder, _: &'static ForkHooks) {}

/// This process's generation.
#[inline]
pub(crate) fn generation() -> u64 {
    #[cfg(test)]
    if let Some(generation) = crate::os::simulated::played() {
        return generation;
    }
    1
}

/// It has nothing to watch.
#[derive(Clone, Copy)]
pub(crate) struct GenerationWatch;

#[inline]
pub(crate) fn watch_generation() -> Option<GenerationWatch> {
    Some(GenerationWatch)
}

impl GenerationWatch {
    #[inline]
    pub(crate) fn is_still(self, generation: u64) -> bool {
        generation == self::generation()
    }
}

pub(crate) fn why_no_work() -> Option<&'static str> {
    None
}

pub(crate) fn why_no_threads() -> Option<&'static str> {
    None
}

#[cfg(feature = "cli")]
pub(crate) fn serves_raw_children() -> bool {
    true
}

/// The user of this process, for messages.
pub(crate) fn user() -> String {
    std::env::var("USERNAME").map_or_else(|_| "a user without a name".into(), |name| format!("user {name}"))
}

/// The start time of this process in Unix milliseconds; `None` of another one.
pub(crate) fn started_ms(pid: u32) -> Option<i64> {
    use windows_sys::Win32::Foundation::FILETIME;
    use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetProcessTimes};
    let none = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
    let (mut started, mut ended, mut kernel, mut used) = (none, none, none, none);
    // SAFETY: the handle of this process is always valid, and the pointers are to the call's own variables.
    let done = unsafe {
        GetProcessTimes(GetCurrentProcess(), &raw mut started, &raw mut ended, &raw mut kernel, &raw mut used)
    };
    (pid == std::process::id() && done != 0).then(|| crate::os::windows::file_time_ms(started))
}
