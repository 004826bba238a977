//! What a host does with both machines, runs and supplies: it pulls calls, reports their ends, and pulls notices.

use crate::argument::ms;
use crate::call_terms::{CallsUnderWay, Told};
use crate::host_call::{HostCall, MachineEnd, clocks};
use crate::module::{Module, Result, exports, write};
use crate::run::{self, Run};
use crate::supply_handle::supply_of;
use leafid_core::call::Level;

fn is_run(module: &Module, machine: i32) -> bool {
    module.find::<Run>(machine).is_some()
}

/// Errors: `closed` for a handle that is no machine.
fn calls_of(module: &mut Module, machine: i32) -> Result<&mut CallsUnderWay> {
    match is_run(module, machine) {
        true => Ok(&mut module.get_mut::<Run>(machine)?.calls),
        false => Ok(&mut supply_of(module, machine)?.calls),
    }
}

exports! {
    /// The next call to carry out, a handle that `done` frees; 0: there is none.
    fn next_call(module, machine: i32, wall_ms: f64, boot_ms: f64) -> i32 {
        let now = clocks(wall_ms, boot_ms);
        let found = match is_run(module, machine) {
            true => run::next_call(module, machine, now)?,
            false => supply_of(module, machine)?.next_call(now),
        };
        let Some((id, call)) = found else { return Ok(0) };
        let handle = module.add(call);
        calls_of(module, machine)?.begun(id, handle);
        Ok(handle)
    }

    /// A call has ended; it is freed.
    fn done(module, machine: i32, call: i32, wall_ms: f64, boot_ms: f64) -> i32 {
        let now = clocks(wall_ms, boot_ms);
        let end = module.take::<HostCall>(call)?.into_end()?;
        let id = calls_of(module, machine)?.ended(call)?;
        match end {
            MachineEnd::Run(end) => run::done(module, machine, id, end, now)?,
            MachineEnd::Supply(end) => supply_of(module, machine)?.done(id, end, now),
        }
        Ok(0)
    }

    /// What to tell next, of either machine.
    fn next_notice(module, machine: i32, wall_ms: f64, boot_ms: f64) -> i32 {
        let now = clocks(wall_ms, boot_ms);
        let told = match module.warnings.pop_front() {
            Some(line) => Some(Told::Log(Level::Warn, line)),
            None if is_run(module, machine) => module.get_mut::<Run>(machine)?.next_notice(now),
            None => supply_of(module, machine)?.next_notice(now),
        };
        let (kind, number) = match told {
            None => return Ok(0),
            Some(Told::Abandon(call)) => (1, call.into()),
            Some(Told::Wake(number)) => (2, number),
            Some(Told::Log(level, line)) => {
                write(&[&line]);
                (3, u8::from(level == Level::Warn).into())
            }
            Some(Told::Closed(Ok(()))) => (4, 0.0),
            Some(Told::Closed(Err(error))) => {
                write(&[error.message()]);
                (4, error.code().number().into())
            }
        };
        module.answer(&[number]);
        Ok(kind)
    }

    /// When to ask for calls and notices again if nothing happens before: the boot time; -1 for never.
    fn next_time(module, machine: i32) -> f64 {
        let at = match is_run(module, machine) {
            true => module.get::<Run>(machine)?.run.next_time(),
            false => supply_of(module, machine)?.next_time(),
        };
        Ok(at.map_or(-1.0, ms))
    }
}
