//! What a host does with both machines, runs and supplies: it pulls calls, reports their ends, and pulls notices.

use crate::argument::ms;
use crate::host_call::{CallHandle, Driven, Told, clocks};
use crate::module::{Module, Result, exports, write};
use crate::run::{self, Run};
#[cfg(feature = "segments")]
use crate::supply_handle::supply_of;
use leafid_core::call::Level;
use leafid_core::{Code, Error};

/// Errors: `closed` for a handle that is no machine.
fn driven(module: &mut Module, machine: i32) -> Result<&mut dyn Driven> {
    #[cfg(feature = "segments")]
    if module.find::<Run>(machine).is_none() {
        return Ok(supply_of(module, machine)?);
    }
    Ok(module.get_mut::<Run>(machine)?)
}

exports! {
    /// The next call to carry out, a handle that `done` frees; 0: there is none.
    fn next_call(module, machine: i32, wall_ms: f64, boot_ms: f64) -> i32 {
        let now = clocks(wall_ms, boot_ms);
        #[cfg(feature = "segments")]
        if module.find::<Run>(machine).is_none() {
            let found = supply_of(module, machine)?.next_call(now);
            return Ok(found.map_or(0, |call| module.add(call)));
        }
        Ok(run::next_call(module, machine, now)?.map_or(0, |call| module.add(call)))
    }

    /// A call has ended; it is freed.
    fn done(module, machine: i32, call: i32, wall_ms: f64, boot_ms: f64) -> i32 {
        let now = clocks(wall_ms, boot_ms);
        let CallHandle { id: (number, id), call, .. } = module.take(call)?;
        let end = call.into_end()?;
        let machine = driven(module, machine)?;
        if number != machine.number() {
            let message = "a call of another machine was reported; report this";
            return Err(Error::new(Code::Internal, message).into());
        }
        machine.done(id, end, now);
        Ok(0)
    }

    /// What to tell next, of either machine.
    fn next_notice(module, machine: i32, wall_ms: f64, boot_ms: f64) -> i32 {
        let now = clocks(wall_ms, boot_ms);
        let (kind, number) = loop {
            let told = match module.warnings.pop_front() {
                Some(line) => Some(Told::Log(Level::Warn, line)),
                None => driven(module, machine)?.next_notice(now),
            };
            break match told {
                None => return Ok(0),
                Some(Told::Abandon(id)) => {
                    let id = (driven(module, machine)?.number(), id);
                    match module.handle_of(|call: &CallHandle| call.id == id) {
                        Some(call) => (1, call.into()),
                        None => continue,
                    }
                }
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
        };
        module.answer(&[number]);
        Ok(kind)
    }

    /// When to ask for calls and notices again if nothing happens before: the boot time; -1 for never.
    fn next_time(module, machine: i32) -> f64 {
        Ok(driven(module, machine)?.next_time().map_or(-1.0, ms))
    }
}
