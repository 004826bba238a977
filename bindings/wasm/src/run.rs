//! The user of a worker id: the core's machine, for a host that carries out its calls.

use crate::argument::{duration, ms, variable};
use crate::host_call::{CallHandle, Driven, HttpTo, Told, clocks};
use crate::module::{Kind, Module, Result, exports, write, write_list};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::take;
use core::time::Duration;
use leafid_core::call::{CallId, Clocks};
use leafid_core::host::MachineEnd;
use leafid_core::options::deployment::{FileSystem, FilesystemKind, Scope};
use leafid_core::options::{
    Environment, Named, OPTIONS, OptionOf, RunOptions, WorkerFrom, built_ms, options_of_json, unknown_option,
};
use leafid_core::place::{FilesAt, Place, PlaceFacts, PlaceSettings};
use leafid_core::run::{
    Answer, Holder, Need, RunCall, RunCallEnd, RunNotice, RunSettings, RunState, RunTicket, RunWait, Waiting,
    WorkerRun,
};
use leafid_core::{Code, Error, Snowflake};

/// Who holds a worker id that another run of this module has, for messages.
const OURS: &str = "another generator of this program";

/// A run, and what its host knows of it.
pub(crate) struct Run {
    /// That of its calls.
    pub(crate) number: u64,
    pub(crate) run: WorkerRun,
    pub(crate) timeout: Duration,
    /// The id space.
    name: String,
    /// Who else may hold a worker id, for messages.
    others: String,
    to: Option<Arc<HttpTo>>,
    tickets: Vec<RunTicket>,
    /// The generator that the host got, and its handle.
    told: Option<(Arc<Snowflake>, i32)>,
    pub(crate) waits: Vec<(i32, RunWait)>,
    /// The wish for a span of a caller that had to return to its event loop. The next caller gets its answer.
    pub(crate) left: Option<RunTicket>,
}

/// The checked options of a snowflake.
pub(crate) struct Options(pub(crate) RunOptions);

impl Kind for Run {
    const NAME: &'static str = "a run";
}

impl Kind for Options {
    const NAME: &'static str = "options";
}

impl Driven for Run {
    fn number(&self) -> u64 {
        self.number
    }

    fn done(&mut self, id: CallId, end: MachineEnd, now: Clocks) {
        match end {
            MachineEnd::Run(end) => self.run.done(id, *end, now),
            #[cfg(feature = "segments")]
            MachineEnd::Supply(_) => {}
        }
    }

    fn next_notice(&mut self, now: Clocks) -> Option<Told> {
        Some(match self.run.next_notice(now)? {
            RunNotice::Abandon(id) => Told::Abandon(id),
            RunNotice::Wake => Told::Wake(0.0),
            RunNotice::Log(level, line) => Told::Log(level, line),
            RunNotice::Closed(result) => Told::Closed(result),
        })
    }

    fn next_time(&self) -> Option<Duration> {
        self.run.next_time()
    }
}

/// Where records are kept. A store belongs to a page or an object; each copy of a program may have one of its own.
fn files(store: i32, path: &str, kind: &str) -> FilesAt {
    let path = String::from(path);
    let filesystem = |kind| FileSystem { name: kind, kind: FilesystemKind::Local };
    match store {
        1 => FilesAt::Store {
            path,
            forgets: true,
            may_vanish: true,
            copies: "this is a browser, where each visitor",
            other: "profile or device",
        },
        2 => FilesAt::Store {
            path,
            forgets: false,
            may_vanish: false,
            copies: "each Durable Object that runs this code",
            other: "object",
        },
        3..=5 => {
            let kind_of = [FilesystemKind::Local, FilesystemKind::Ephemeral, FilesystemKind::Network];
            let fs = FileSystem { kind: kind_of[store as usize - 3], ..filesystem(kind.into()) };
            FilesAt::Directory { path, named: true, fs, left_root: false }
        }
        _ => FilesAt::Nowhere,
    }
}

impl Run {
    /// Wishes for something, and keeps the number of the wish.
    pub(crate) fn want(&mut self, need: Need, clocks: Clocks) -> RunTicket {
        let ticket = self.run.want(need, clocks);
        self.tickets.push(ticket);
        ticket
    }

    fn holds(&self, name: &str, id: u32) -> bool {
        self.name == name && matches!(self.run.state(), RunState::Held { worker_id, .. } if worker_id == id)
    }

    fn ticket(&self, number: f64) -> Result<RunTicket> {
        let found = self.tickets.iter().find(|ticket| ticket.number() == number as u64);
        Ok(*found.ok_or_else(|| Error::new(Code::Closed, "this wish was answered, or given up"))?)
    }

    fn forget(&mut self, ticket: RunTicket) {
        self.tickets.retain(|known| known.number() != ticket.number());
    }
}

/// The end of a call that no host carries out here; or else the call. `others`: who may hold a worker id, for messages;
/// `is_ours`: whether a run of this module does.
///
/// There are no cached leases, because a copy of such a file cannot be recognised, and no look at other names.
fn without_host(
    call: RunCall,
    others: &str,
    is_ours: impl FnOnce(&str, u32) -> bool,
) -> core::result::Result<RunCallEnd, RunCall> {
    Ok(match call {
        RunCall::Holder(call) => {
            let is_ours = is_ours(call.name(), call.worker_id());
            let by = Some(if is_ours { OURS } else { others }).filter(|by| !by.is_empty()).map(Into::into);
            call.end(Holder { by, is_ours, stranger: None })
        }
        RunCall::Names(call) => call.end(Vec::new()),
        RunCall::ListLeaseCaches(call) => call.end(Duration::ZERO, 0).into(),
        RunCall::ReadLeaseCache(call) => call.missing().into(),
        RunCall::WriteLeaseCache(mut call) => {
            // It is not cached, whatever the content would be.
            let _never = call.initial(false);
            call.end("").into()
        }
        RunCall::DropLeaseCache(call) => call.missing("").into(),
        other => return Err(other),
    })
}

/// The next call that only the host can carry out.
pub(crate) fn next_call(module: &mut Module, run: i32, now: Clocks) -> Result<Option<CallHandle>> {
    loop {
        let mut leases = take(&mut module.leases);
        let called = module.get_mut::<Run>(run).map(|found| found.run.next_call(now, &mut leases));
        module.leases = leases;
        let Some((id, _, call)) = called? else { return Ok(None) };
        let found = module.get::<Run>(run)?;
        let is_ours = |name: &str, id| module.all::<Run>().any(|run| run.holds(name, id));
        match without_host(call, &found.others, is_ours) {
            Ok(end) => module.get_mut::<Run>(run)?.run.done(id, end, now),
            Err(call) => {
                let (id, to) = ((found.number, id), found.to.clone());
                return Ok(Some(CallHandle {
                    id,
                    call: call.into(),
                    to,
                    #[cfg(feature = "segments")]
                    marks: None,
                }));
            }
        }
    }
}

exports! {
    /// The options of a snowflake, or of segments, as output: of each its name, its kind and its variable of the
    /// environment.
    fn option_rows(_, of_segments: i32) -> i32 {
        let of = if of_segments == 0 { OptionOf::Snowflake } else { OptionOf::Segments };
        let rows = || OPTIONS.iter().filter(|row| row.of.includes(of));
        let names: Vec<_> = rows().map(|row| Named(row.name).to_string()).collect();
        let texts =
            rows().zip(&names).flat_map(|(row, name)| [Some(&**name), Some(row.kind.name()), row.variable]);
        write_list(texts.map(|text| text.map(str::as_bytes)));
        Ok(0)
    }

    /// The error for an option that is none of those known, separated by commas.
    fn refuse_unknown(module, name_length: i32, known_length: i32) -> i32 {
        let [name, known] = module.texts([name_length, known_length])?;
        Err(unknown_option(name, known).into())
    }

    /// The checked options of a snowflake.
    fn options_of_run(module, json_length: i32, variables_length: i32, host_length: i32) -> i32 {
        let [json, variables, host] = module.input([json_length, variables_length, host_length])?;
        let variable = |name: &str| variable(variables, name);
        let host_name = crate::module::utf8(host)?;
        let set = options_of_json(OptionOf::Snowflake, json)?;
        let options = RunOptions::parse(&set, &Environment { variable: &variable, host_name })?;
        let source = match &options.worker {
            WorkerFrom::Ids(_) => 0.0,
            WorkerFrom::Callback => 1.0,
            WorkerFrom::Leases => 2.0,
            WorkerFrom::Servers(_) => 3.0,
            WorkerFrom::Later => 4.0,
        };
        let flag = |is: bool| f64::from(u8::from(is));
        module.answer(&[
            source,
            flag(options.worker.ids().is_some_and(|ids| ids.first != ids.last)),
            flag(options.persist),
            flag(options.lazy),
            flag(options.asks_peer_times),
            ms(options.timeout),
        ]);
        write(&[&options.name]);
        Ok(module.add(Options(options)))
    }

    /// 1 if two snowflakes with these options are one generator, if they have one store and one source too.
    fn options_alike(module, one: i32, other: i32) -> i32 {
        Ok(module.get::<Options>(one)?.0.is_same(&module.get::<Options>(other)?.0).into())
    }

    /// A run that is not opened yet.
    fn run_new(
        module, options: i32, store: i32, loops: i32, pid: i32, path_length: i32, kind_length: i32, host_length: i32,
        boot_length: i32, others_length: i32, seed: i64, wall_ms: f64, boot_ms: f64
    ) -> i32 {
        const BUILT_MS: i64 = built_ms(env!("LEAFID_BUILT_DAY"));
        let clock = Arc::clone(module.clock());
        let lengths = [path_length, kind_length, host_length, boot_length, others_length];
        let [path, kind, host, boot, others] = module.texts(lengths)?;
        let (options, clocks) = (module.get::<Options>(options)?.0.clone(), clocks(wall_ms, boot_ms));
        let facts = PlaceFacts {
            host: host.into(),
            boot: boot.into(),
            files: files(store, path, kind),
            built_ms: BUILT_MS,
            pid,
            started_ms: Some(clocks.wall_ms),
            surroundings: None,
            // A host that can show more has no need of this module.
            scope: if store < 3 { Scope::Host } else { Scope::Unseen },
            inherited: None,
            clock,
        };
        let others = others.into();
        let (place, warnings) = Place::check(facts, &PlaceSettings::of(&options), clocks)?;
        module.warnings.extend(warnings);
        let settings = RunSettings::of(&options, |_| None);
        let persist = settings.persist && store != 0;
        let settings = RunSettings { disk_needs_loop: loops != 0, persist, ..settings };
        let to = match &options.worker {
            WorkerFrom::Servers(of) => Some(Arc::new(HttpTo::new(of, of.token.as_deref()))),
            _ => None,
        };
        let run = Run {
            number: module.next_number(),
            timeout: options.timeout,
            name: options.name,
            others,
            to,
            tickets: Vec::new(),
            told: None,
            waits: Vec::new(),
            left: None,
            run: WorkerRun::new(settings, place, seed as u64),
        };
        Ok(module.add(run))
    }

    /// A wish: 0 an open generator, 1 a span, 2 the end.
    fn run_want(
        module, run: i32, need: i32, first: i32, second: i32, longest_ms: f64, wall_ms: f64, boot_ms: f64
    ) -> f64 {
        let need = match need {
            0 => {
                let longest = Some(longest_ms).filter(|ms| !ms.is_nan()).map(duration);
                Need::Open { longest, loops: first != 0 }
            }
            1 => Need::Span,
            _ => Need::Close { quietly: first != 0, waits_for_source: second != 0 },
        };
        Ok(module.get_mut::<Run>(run)?.want(need, clocks(wall_ms, boot_ms)).number() as f64)
    }

    /// This wish is not needed any more.
    fn run_give_up(module, run: i32, ticket: f64, wall_ms: f64, boot_ms: f64) -> i32 {
        let run = module.get_mut::<Run>(run)?;
        let ticket = run.ticket(ticket)?;
        run.forget(ticket);
        run.run.give_up(ticket, clocks(wall_ms, boot_ms));
        Ok(0)
    }

    /// The answer to a wish: 0 none yet, 1 it is so, 2 so it is, but a wait for the first id begins; or the error.
    fn run_answer(module, run: i32, ticket: f64, wall_ms: f64, boot_ms: f64) -> i32 {
        let now_ms = module.filtered_ms(clocks(wall_ms, boot_ms));
        let run = module.get_mut::<Run>(run)?;
        let ticket = run.ticket(ticket)?;
        let answer = run.run.answer(ticket);
        if let Answer::Pending(_) = answer {
            return Ok(0);
        }
        run.forget(ticket);
        match answer {
            Answer::Failed(error) => Err(error.into()),
            _ if Waiting::begins_soon(run.run.begins_ms(), now_ms) => Ok(2),
            _ => Ok(1),
        }
    }

    /// User code returned a promise: the call goes on. Its end is reported too, when it comes.
    fn run_needs_loop(module, run: i32, handle: i32, wall_ms: f64, boot_ms: f64) -> i32 {
        let call = module.find::<CallHandle>(handle).map(|call| call.id);
        let found = module.get_mut::<Run>(run)?;
        if let Some((_, id)) = call.filter(|(number, _)| *number == found.number) {
            found.run.done(id, RunCallEnd::needs_loop(), clocks(wall_ms, boot_ms));
        }
        Ok(0)
    }

    /// The generator, for `snowflake_next` and `snowflake_reserve`.
    fn run_generator(module, run: i32) -> i32 {
        let found = module.get_mut::<Run>(run)?;
        let Some(flake) = found.run.generator().cloned() else { return Ok(0) };
        let worker_id = flake.worker_id();
        let handle = match found.told.take() {
            Some((told, handle)) if Arc::ptr_eq(&told, &flake) => handle,
            told => {
                told.into_iter().for_each(|(_, handle)| module.free(handle));
                module.add(Arc::clone(&flake))
            }
        };
        module.get_mut::<Run>(run)?.told = Some((flake, handle));
        module.answer(&[worker_id.into()]);
        Ok(handle)
    }

    /// The clock after the filter of leaps.
    fn filtered_ms(module, wall_ms: f64, boot_ms: f64) -> f64 {
        Ok(module.filtered_ms(clocks(wall_ms, boot_ms)) as f64)
    }

    /// The state of a run.
    fn run_stats(module, run: i32, wall_ms: f64, boot_ms: f64) -> i32 {
        let now_ms = module.filtered_ms(clocks(wall_ms, boot_ms));
        let stats = module.get::<Run>(run)?.run.stats(now_ms);
        module.answer(&[
            stats.reserved_until_ms as f64,
            stats.lead_ms as f64,
            stats.lease_until_ms.map_or(f64::NAN, |ms| ms as f64),
            stats.ids as f64,
            stats.claims as f64,
            stats.renewals as f64,
            stats.renewal_failures as f64,
        ]);
        write(&[stats.last_error.as_deref().unwrap_or_default()]);
        Ok(0)
    }
}
