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
    "segments/fetch_errors",
    "segments/fetcher",
    "segments/handle",
    "segments/shared",
    "segments/source/callback",
    "segments/source/completion",
    "segments/source/fetch_request",
    "segments/stats",
    "segments/tag",
    "segments/tag_calls",
    "segments/tag_state",
    "tasks/fetch_pool",
];

/// What stands in the place of those that open files and talk to servers.
pub const FAKES: &[&str] = &["high_water", "open", "settings", "source/source_properties"];

/// In each source, as often as it is there.
pub const WORLD: &[(&str, &str)] = &[
    ("core::sync::atomic::", "crate::world::sync::atomic::"),
    ("std::sync::", "crate::world::sync::"),
    ("std::time::", "crate::world::time::"),
    ("std::thread::", "crate::world::thread::"),
    ("crate::os::futex", "crate::world::futex"),
    // The core stands at the root, with a module of that name.
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
        "segments/tag_state.rs",
        ("i32::MAX as u32", "if crate::is(\"wakes_one\") { 1 } else { i32::MAX as u32 }", 1),
    ),
    (
        "segments/tag_state.rs",
        (
            "        self.version.fetch_add(1, SeqCst);
        if self.waiting.load(SeqCst) > 0 {",
            "        let early = crate::is(\"looks_for_waiters_first\").then(|| self.waiting.load(SeqCst));
        if !crate::is(\"wakes_before_the_change\") {
            self.version.fetch_add(1, SeqCst);
        }
        if early.unwrap_or_else(|| self.waiting.load(SeqCst)) > 0 {",
            1,
        ),
    ),
    (
        "segments/tag_state.rs",
        (
            "        let wakes =",
            "        if crate::is(\"wakes_before_the_change\") {
            self.version.fetch_add(1, SeqCst);
        }
        let wakes =",
            1,
        ),
    ),
    (
        "segments/tag_state.rs",
        (
            "        self.waiting.fetch_add(1, SeqCst);",
            "        let late = crate::is(\"counts_itself_after_a_look\");
        if late && self.version() != seen {
            return;
        }
        self.waiting.fetch_add(1, SeqCst);
        let seen = if late { self.version() } else { seen };",
            1,
        ),
    ),
    (
        "segments/tag_state.rs",
        (
            "        let mut wake = Some(wake);",
            "        let late = crate::is(\"subscribes_after_a_look\");
        if late && self.version() != seen {
            return Err(wake);
        }
        let mut wake = Some(wake);",
            1,
        ),
    ),
    ("segments/tag_state.rs", ("if self.version() == seen {", "if late || self.version() == seen {", 1)),
    (
        "segments/tag_state.rs",
        (
            "            self.refill(state);
        });
        self.changed();",
            "            self.refill(state);
        });
        if !crate::is(\"tells_of_nothing_put_back\") {
            self.changed();
        }",
            1,
        ),
    ),
    (
        "segments/tag_state.rs",
        (
            "            Segment::merged(rest)
        });
        self.changed();",
            "            Segment::merged(rest)
        });
        if !crate::is(\"tells_of_no_close\") {
            self.changed();
        }",
            1,
        ),
    ),
    (
        "segments/call.rs",
        (
            "return Ok(Some(Waits { fetcher, tag_state, seen }));",
            "let seen = if crate::is(\"reads_the_version_last\") { tag_state.version() } else { seen };
                    return Ok(Some(Waits { fetcher, tag_state, seen }));",
            1,
        ),
    ),
    (
        "segments/call.rs",
        (
            "            let runs = tag_state.take_served(number);
            self.receive(&tag_state, runs);",
            "            let runs = tag_state.take_served(number);
            if !crate::is(\"loses_what_it_was_given\") {
                self.receive(&tag_state, runs);
            }",
            1,
        ),
    ),
    (
        "segments/call.rs",
        (
            "            let subscribed = tag_state.subscribe",
            "            let early = crate::is(\"looks_at_the_time_first\");
            if early && self.is_late() {
                return Err(fetcher.late(&tag_state, self.timeout));
            }
            let subscribed = tag_state.subscribe",
            1,
        ),
    ),
    (
        "segments/call.rs",
        (
            "            if self.is_late() {
                if let Ok",
            "            if !early && self.is_late() {
                if let Ok",
            1,
        ),
    ),
    (
        "segments/fetcher.rs",
        (
            "        let logged = tag_state.locked(|state| {",
            "        if crate::is(\"tells_before_it_is_there\") {
            tag_state.changed();
        }
        let logged = tag_state.locked(|state| {",
            1,
        ),
    ),
    (
        "segments/fetcher.rs",
        (
            "        tag_state.changed();
        // A source of single ids",
            "        if !crate::is(\"tells_before_it_is_there\") {
            tag_state.changed();
        }
        // A source of single ids",
            1,
        ),
    ),
    (
        "segments/fetcher.rs",
        (
            "        (refilled, action)
    }",
            "        if action == FetchAction::Fetch && crate::is(\"asks_twice\") {
            state.fetch.cancelled();
        }
        (refilled, action)
    }",
            1,
        ),
    ),
    (
        "tasks/fetch_pool.rs",
        (
            "                    work.fetches.started();",
            "                    if !crate::is(\"counts_itself_once_it_runs\") {
                        work.fetches.started();
                    }",
            1,
        ),
    ),
    (
        "tasks/fetch_pool.rs",
        (
            "        work.number += 1;
        let me",
            "        if crate::is(\"counts_itself_once_it_runs\") {
            work.fetches.started();
        }
        work.number += 1;
        let me",
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
            "            drop(work);
            let busy",
            "            if crate::is(\"is_busy_too_late\") {
                let busy = work.fetches.set_busy(me, None);
                drop(work);
                work = lock(&self.work);
                work.fetches.set_busy(me, busy);
            }
            drop(work);
            let busy",
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
            "        if work.owners.is_empty() {
            return 0;",
            "        if work.owners.is_empty() && !crate::is(\"is_due_after_the_close\") {
            return 0;",
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

/// The same of the core, of which there is one copy: in the sound one no mutant is chosen.
pub const CORE_MUTANTS: &[(&str, Change)] = &[
    (
        "segment/fetch_threads.rs",
        (
            "    /// An idle thread has ended.",
            "    /// For `is_busy_too_late`.
    pub fn set_busy(&mut self, thread: u64, busy: Option<(T, usize)>) -> Option<(T, usize)> {
        match busy {
            Some(busy) => self.busy.insert(thread, busy),
            None => self.busy.remove(&thread),
        }
    }

    /// An idle thread has ended.",
            1,
        ),
    ),
    (
        "segment/fetch_threads.rs",
        (
            "if self.busy_for(next) == 0 {",
            "if self.busy_for(next) == 0 && !crate::is(\"has_no_thread_for_others\") {",
            1,
        ),
    ),
    (
        "segment/fetch_threads.rs",
        (
            "MOST_THREADS.max(requests) + held_up",
            "MOST_THREADS.max(requests) + if crate::is(\"waits_for_those_held_up\") { 0 } else { held_up }",
            1,
        ),
    ),
];
