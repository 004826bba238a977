//! What is copied, what is changed in it for shuttle, and what for the mutants that the models must catch.

/// A text, what stands in its place, and how often it is there.
pub type Change = (&'static str, &'static str, usize);

/// Sources of the host besides the segments'.
pub const HOSTS: &[&str] = &["os/mutex.rs", "os/per_process.rs"];

/// Folders that are copied in part.
pub const FOLDERS: &[&str] = &["segments", "segments/source", "tasks"];

/// What two copies of them are to tell apart.
pub const OF_A_TREE: &[&str] = &["crate::segments::", "crate::tasks::fetch_pool"];

/// Sources of the segments, and what fetches them.
pub const SEGMENTS: &[&str] = &[
    "segments/call",
    "segments/handle",
    "segments/shared",
    "segments/source/callback",
    "segments/source/completion",
    "segments/source/fetch_request",
    "segments/stats",
    "segments/supply_driver",
    "segments/tag",
    "segments/tag_calls",
    "tasks/fetch_pool",
];

/// What stands in the place of those that open files and talk to servers.
pub const FAKES: &[&str] = &["high_water", "open", "settings", "source/host_source"];

/// In each source, as often as it is there.
pub const WORLD: &[(&str, &str)] = &[
    ("std::sync::", "crate::world::sync::"),
    ("std::time::", "crate::world::time::"),
    ("std::thread::", "crate::world::thread::"),
];

/// In one source: statics and a thread's own are of one execution.
pub const WORLD_OF: &[(&str, Change)] = &[
    (
        "tasks/fetch_pool.rs",
        (
            "static POOL: PerProcess<Arc<Pool>> = PerProcess::new();",
            "shuttle::lazy_static! { static ref POOL: PerProcess<Arc<Pool>> = PerProcess::new(); }",
            1,
        ),
    ),
    ("tasks/fetch_pool.rs", ("\nthread_local! {", "\nshuttle::thread_local! {", 1)),
    ("tasks/fetch_pool.rs", ("IS_POOL_THREAD.set(true)", "IS_POOL_THREAD.with(|it| it.set(true))", 2)),
    ("tasks/fetch_pool.rs", ("IS_POOL_THREAD.get()", "IS_POOL_THREAD.with(Cell::get)", 1)),
];

/// Of the copy that is broken, where `crate::is` says so by a mutant's name: a test says which model must catch it.
pub const MUTANTS: &[(&str, Change)] = &[
    (
        "segments/supply_driver.rs",
        (
            "        for wake in told.wakes {",
            "        for wake in told.wakes.into_iter().filter(|_| !crate::is(\"wakes_nobody\")) {",
            1,
        ),
    ),
    (
        "segments/supply_driver.rs",
        (
            "                    self.waiters.insert(ticket, (wake, looks_at));",
            "                    if !crate::is(\"waits_without_a_waker\") {
                        self.waiters.insert(ticket, (wake, looks_at));
                    }",
            1,
        ),
    ),
    (
        "segments/supply_driver.rs",
        ("        if told.has_call {", "        if told.has_call && !crate::is(\"queues_no_job\") {", 1),
    ),
    (
        "segments/supply_driver.rs",
        (
            "        self.act(told);
        has_call
    }",
            "        self.act(told);
        has_call && !crate::is(\"leaves_the_next_call\")
    }",
            1,
        ),
    ),
    (
        "segments/supply_driver.rs",
        (
            "        state.timer = next.map(|at| {",
            "        state.timer = next.filter(|_| !crate::is(\"sets_no_timer\")).map(|at| {",
            1,
        ),
    ),
    (
        "segments/call.rs",
        (
            "            driver.cancel(ticket);",
            "            if !crate::is(\"loses_what_it_was_given\") {
                driver.cancel(ticket);
            }",
            1,
        ),
    ),
    (
        "tasks/fetch_pool.rs",
        (
            "        work.fetches.ended();
        drop(work);
        idle",
            "        if crate::is(\"is_idle_until_it_is_gone\") {
            drop(work);
            work = lock(&self.work);
        }
        work.fetches.ended();
        drop(work);
        idle",
            1,
        ),
    ),
    (
        "tasks/fetch_pool.rs",
        (
            "        self.worker_wake.notify_one();
        if let",
            "        if !crate::is(\"wakes_no_thread\") {
            self.worker_wake.notify_one();
        }
        if let",
            1,
        ),
    ),
    (
        "tasks/fetch_pool.rs",
        (
            "    pool.timer_wake.notify_one();",
            "    if !crate::is(\"wakes_no_timer\") {
        pool.timer_wake.notify_one();
    }",
            1,
        ),
    ),
    (
        "tasks/fetch_pool.rs",
        (
            "        pool.stop(patience, true);
        pool.ensure_threads(false);",
            "        pool.stop(patience, true);
        if !crate::is(\"leaves_jobs_after_a_close\") {
            pool.ensure_threads(false);
        }",
            1,
        ),
    ),
    (
        "tasks/fetch_pool.rs",
        (
            "    in_parent: || {
        if let Some(pool) = POOL.get() {",
            "    in_parent: || {
        if let Some(pool) = POOL.get()
            && !crate::is(\"leaves_jobs_after_a_fork\")
        {",
            1,
        ),
    ),
];
