//! The place where a process of leafid runs: what the host looks up, and what follows from it for worker ids and marks.
//!
//! A host looks up the [`PlaceFacts`] once for each opening. [`Place::check`] refuses a place in which worker ids could
//! have two holders. Of the place of marks only [`machine_start`] matters, and whether its file system is a network's.

use crate::call::{Clocks, FileAdvice, SharedFailure};
use crate::format::state::{StoredRecord, Writer};
use crate::format::unused::MachineStart;
use crate::options::deployment::{self, FileSystem, FilesystemKind, Scope, WorkerPlace};
use crate::options::{ChosenBy, RunOptions, WorkerRange, check_clock};
use crate::quoted::Quoted;
use crate::snowflake::LONGEST_SPAN_MS;
use crate::spelling::name::{EXCLUSIVE_RANGE, PERSIST};
use crate::{ClockFilter, Code, Error, Layout, OnExhausted, Result, Rules, Utc};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What the host looks up.
#[derive(Clone, Debug)]
pub struct PlaceFacts {
    /// The filter of the process's clock. All machines of a process, and those of its forked children, share one.
    pub clock: Arc<ClockFilter>,
    /// When leafid was built, Unix milliseconds: [`crate::options::built_ms`].
    pub built_ms: i64,
    /// The number of this process.
    pub pid: i32,
    /// The time of its start, Unix milliseconds, if it is known.
    pub started_ms: Option<i64>,
    /// The name of the host.
    pub host: String,
    /// What identifies this start of the machine; empty if that is unknown.
    pub boot: String,
    /// The name of the platform: [`deployment::surroundings`].
    pub surroundings: Option<&'static str>,
    /// The processes that see a host lock of this process.
    pub scope: Scope,
    /// The worker id of the process from which this one was forked, if it had one.
    pub inherited: Option<u32>,
    /// Where records, or marks, are kept.
    pub files: FilesAt,
}

/// Where records, or marks, are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilesAt {
    /// Nowhere, because the user said so, or because only leases are used.
    Nowhere,
    /// In a directory, which exists.
    Directory {
        /// Its path.
        path: String,
        /// Whether the user named it, by the option or in the environment.
        named: bool,
        /// Its file system.
        fs: FileSystem,
        /// Whether this process has changed its root since it found the path.
        left_root: bool,
    },
    /// In a store of the platform. Each copy of a program may have one of its own.
    Store {
        /// What it is called in messages.
        path: String,
        /// Whether it may be lost while the clock goes on.
        forgets: bool,
        /// Whether that may happen under a running generator, whose lock then excludes no other one.
        may_vanish: bool,
        /// Who runs the same program: "this is a browser, where each visitor".
        copies: &'static str,
        /// Who may not have the same worker ids: "profile or device".
        other: &'static str,
    },
}

/// The checked options on which a place depends.
#[derive(Clone, Copy, Debug)]
pub struct PlaceSettings<'s> {
    /// The layout of the ids.
    pub layout: &'s Layout,
    /// The rules as the user set them.
    pub rules: &'s Rules,
    /// The worker ids; `None` if a source gives them.
    pub workers: Option<&'s WorkerRange>,
    /// Whether worker ids come with leases, whose spans their source stores.
    pub leases: bool,
    /// The option `shared_fs`.
    pub shared_fs: bool,
    /// The user's statement `exclusive_range`.
    pub exclusive_range: bool,
    /// How long a start without a record issues nothing, milliseconds.
    pub no_record_wait_ms: i64,
}

impl<'s> PlaceSettings<'s> {
    /// Those of the checked options of a snowflake.
    pub fn of(options: &'s RunOptions) -> PlaceSettings<'s> {
        PlaceSettings {
            layout: &options.layout,
            rules: &options.rules,
            workers: options.worker.ids(),
            leases: options.worker.leases_spans(),
            shared_fs: options.shared_fs,
            exclusive_range: options.exclusive_range,
            no_record_wait_ms: options.no_record_wait_ms,
        }
    }
}

/// A place that may be used.
#[derive(Clone, Debug)]
pub struct Place {
    /// The filter of the process's clock.
    pub clock: Arc<ClockFilter>,
    /// This process and this start of the machine, for records.
    pub writer: Writer,
    /// The directory or store, for messages; empty without one.
    pub directory: String,
    /// What a user can do about files that cannot be used.
    pub advice: FileAdvice,
    /// Whether records may be lost at the next start of the machine: then ids never run ahead of the clock.
    pub forgets: bool,
    /// Whether another directory, container or host may have used the same worker id.
    pub moves: bool,
    /// How long a start without a record issues nothing, milliseconds.
    pub no_record_wait_ms: i64,
    /// The worker id of the process from which this one was forked, if it had one.
    pub inherited: Option<u32>,
    /// Whether the records must all be of this machine: its worker ids are `local`.
    pub one_machine: bool,
}

impl Place {
    /// The place of a snowflake, and what to warn the user of.
    ///
    /// Errors: `clock_backwards` and `invalid_argument` for a clock that cannot be right; `state_io` for a network file
    /// system without `shared_fs`, or for a path of another root; `invalid_argument` for worker ids that others may use
    /// unseen, and for `borrow` where ids may not run ahead of the clock.
    pub fn check(
        facts: PlaceFacts,
        settings: &PlaceSettings<'_>,
        clocks: Clocks,
    ) -> Result<(Place, Vec<String>)> {
        let (now_ms, leap) = facts.filtered_ms(clocks);
        let mut warnings: Vec<String> = leap.into_iter().collect();
        check_clock(settings.layout, facts.built_ms, now_ms)?;
        // Spans of leases are stored by their source: no start repeats them.
        let mut forgets = !settings.leases;
        let mut least_wait_ms = 0;
        match &facts.files {
            FilesAt::Nowhere => check_lock(&facts, settings)?,
            FilesAt::Directory { path, named, fs, left_root } => {
                // A process that was not forked has just found the path.
                if *left_root && facts.inherited.is_some() {
                    return Err(SharedFailure::Chrooted.error(path, FileAdvice::StateDir));
                }
                forgets &= fs.kind == FilesystemKind::Ephemeral;
                let (path, named) = (path, *named);
                warnings.extend(check_directory(&facts, settings, (path, named, fs), forgets)?);
            }
            FilesAt::Store { forgets: loses, may_vanish, copies, other, .. } => {
                check_copies(settings, copies, other)?;
                // Until any span is over that a generator may still have.
                if *may_vanish && forgets {
                    least_wait_ms = LONGEST_SPAN_MS + settings.layout.tick_ms();
                }
                forgets &= *loses;
            }
        }
        let moves = forgets || facts.surroundings.is_some() || facts.scope != Scope::Host;
        let no_record_wait_ms = settings.no_record_wait_ms.max(least_wait_ms);
        let is_local = settings.workers.is_some_and(|workers| workers.chosen_by == ChosenBy::Local);
        let one_machine = is_local && !settings.exclusive_range;
        Ok((Place { forgets, moves, no_record_wait_ms, one_machine, ..facts.place(now_ms) }, warnings))
    }

    /// A place for leases whose source stores the spans. `clock`: the filter of the process's clock.
    pub fn without_files(clock: Arc<ClockFilter>) -> Place {
        Place {
            clock,
            writer: Writer::default(),
            directory: String::new(),
            advice: FileAdvice::StateDir,
            forgets: false,
            moves: false,
            no_record_wait_ms: 0,
            inherited: None,
            one_machine: false,
        }
    }

    /// Errors: `invalid_argument` for a record of another machine, where all must be of this one.
    pub(crate) fn check_machine(&self, found: &StoredRecord) -> Result<()> {
        let (theirs, ours) = (&found.writer.host, &self.writer.host);
        let label = |host: &str| host.split('.').next().unwrap_or_default().to_ascii_lowercase();
        let is_ours = theirs.is_empty() || label(theirs) == label(ours);
        if !self.one_machine || is_ours {
            return Ok(());
        }
        let message = format!(
            "worker is \"local\", for one machine alone, but the record of worker id {} in {} is of host {}, and this is {}: \
             give each host worker ids of its own. If it is one machine whose name has changed, set {EXCLUSIVE_RANGE} \
             (LEAFID_EXCLUSIVE_RANGE=1)",
            found.record.worker_id,
            self.directory,
            Quoted(theirs),
            Quoted(ours)
        );
        Err(Error::new(Code::InvalidArgument, message))
    }

    /// The rules of a generator here, from those of the user.
    pub fn rules(&self, rules: Rules) -> Rules {
        if self.forgets { rules.never_ahead() } else { rules }
    }
}

impl PlaceFacts {
    /// The filtered time, and what to log of a leap.
    fn filtered_ms(&self, clocks: Clocks) -> (i64, Option<String>) {
        let counted_ns = i64::try_from(clocks.boot.as_nanos()).unwrap_or(i64::MAX);
        let (now_ns, leap) = self.clock.filter(clocks.wall_ms.saturating_mul(1_000_000), counted_ns);
        (now_ns.div_euclid(1_000_000), leap.map(|leap| leap.to_string()))
    }

    fn place(self, now_ms: i64) -> Place {
        let (directory, advice) = match self.files {
            FilesAt::Nowhere => (String::new(), FileAdvice::StateDir),
            FilesAt::Directory { path, .. } => (path, FileAdvice::StateDir),
            FilesAt::Store { path, .. } => (path, FileAdvice::Store),
        };
        let started = Utc(self.started_ms.unwrap_or(now_ms)).to_string();
        let writer = Writer { pid: self.pid, host: self.host, started, boot: self.boot, ..Writer::default() };
        Place { writer, directory, advice, inherited: self.inherited, ..Place::without_files(self.clock) }
    }
}

/// The machine and its start, to which unused ids in `fs` belong; `None` where they cannot be stored. `boot`: what
/// identifies the start, empty if that is unknown. A clone of a suspended machine has all but it in common with it.
pub fn machine_start(fs: &FileSystem, machine: Option<String>, boot: String) -> Option<MachineStart> {
    let machine = machine.filter(|_| fs.tells_copies() && !boot.is_empty())?;
    Some(MachineStart { machine, boot })
}

/// Returns what to warn of.
fn check_directory(
    facts: &PlaceFacts,
    settings: &PlaceSettings<'_>,
    (path, named, fs): (&String, bool, &FileSystem),
    forgets: bool,
) -> Result<Option<String>> {
    deployment::refuse_network(fs, path, settings.shared_fs, deployment::LOCAL_STATE)?;
    let place = WorkerPlace {
        workers: settings.workers,
        fs,
        path,
        named,
        surroundings: facts.surroundings,
        scope: facts.scope,
        exclusive: settings.exclusive_range,
    };
    place.refuse()?;
    if forgets && settings.rules.on_exhausted == OnExhausted::Borrow {
        let allowed = format!(
            "\"wait\" with records on {}, which may not outlive this container: ids never run ahead of the clock",
            fs.name
        );
        return Err(Error::invalid("on_exhausted", "\"borrow\"", &allowed));
    }
    Ok(place.warning())
}

/// Without a record, only the host lock holds another process off. Of leases their source knows the spans.
fn check_lock(facts: &PlaceFacts, settings: &PlaceSettings<'_>) -> Result<()> {
    let Some(reason) = facts.scope.reason().filter(|_| facts.scope == Scope::NoLock) else { return Ok(()) };
    let because = match facts.inherited {
        _ if settings.leases => return Ok(()),
        // No statement is about a process and its own child.
        Some(worker_id) => format!(
            "this process was forked from one that has worker id {worker_id} and would make the same ids: keep records, \
             or lease the worker id"
        ),
        None if settings.exclusive_range => return Ok(()),
        None => format!(
            "another process with the same worker id would make the same ids: keep records, or lease the worker id. Set \
             {EXCLUSIVE_RANGE} (LEAFID_EXCLUSIVE_RANGE=1) only if no other process will ever have it"
        ),
    };
    let message = format!("{PERSIST} is false, and {reason}; {because}");
    Err(Error::new(Code::InvalidArgument, message))
}

/// Worker ids that stand in a program, or that it makes, are the same for all who run it. Where they do not see one
/// another, the ids are the user's statement.
fn check_copies(settings: &PlaceSettings<'_>, copies: &str, other: &str) -> Result<()> {
    if settings.leases || settings.exclusive_range {
        return Ok(());
    }
    let (what, gets) = match settings.workers {
        Some(WorkerRange { chosen_by: ChosenBy::Local, .. }) => ("\"local\"", "would get"),
        Some(workers) if workers.first == workers.last => ("a number", "would get"),
        Some(_) => ("a range", "would get"),
        None => ("a function", "may get"),
    };
    let message = format!(
        "worker is {what}, and {copies} {gets} the same: lease the worker id (worker is then the URL of a lease \
         server); or, if no other {other} has it, set {EXCLUSIVE_RANGE}: true"
    );
    Err(Error::new(Code::InvalidArgument, message))
}
