//! The waits of callers for the ids of a run: what comes after its generator returned no id.

use crate::argument::{duration, ms};
use crate::host_call::clocks;
use crate::ids::{MOST_IDS, with_ids, write_run};
use crate::module::{Module, Result, exports};
use crate::run::Run;
use leafid_core::call::Clocks;
use leafid_core::run::{Pause, RunWait, Waiting};
use leafid_core::{Code, Error};

/// Wait until the clock reads the answer's number, then call again.
const UNTIL: i32 = -101;
/// Read the clocks, and call again.
const AGAIN: i32 = -102;
/// Wait for the next answers, for the answer's number of milliseconds at most, then call again.
const SLEEP: i32 = -103;

/// Asks the generator for at most `most` ids, with 0 whether there is one; or for the answer to the wish for a span.
/// `Ok` has how many came; else the caller does this next.
fn asked(
    module: &mut Module,
    run: i32,
    wait: i32,
    most: usize,
    at: Clocks,
) -> Result<core::result::Result<i32, i32>> {
    let now_ms = module.filtered_ms(at);
    let run = module.get_mut::<Run>(run)?;
    let closed = || Error::new(Code::Closed, "this wait is over");
    let Run { run, waits, left, .. } = run;
    let (_, wait) = waits.iter_mut().find(|(number, _)| *number == wait).ok_or_else(closed)?;
    let flake = run.generator().cloned().ok_or_else(closed)?;
    let (begins_ms, boot) = (run.begins_ms(), at.boot);
    let mut pause = Pause::Want;
    if wait.wished().is_none() {
        // Not `next`, even for one: with one caller alone it is inlined there, on the way of each id.
        let refused = match (most > 0).then(|| flake.reserve(now_ms, most)) {
            Some(Ok(ids)) => {
                with_ids(|to| write_run(&ids, to));
                wait.waiting.progressed();
                return Ok(Ok(ids.count as i32));
            }
            Some(Err(action)) => Some(wait.waiting.step(&flake, begins_ms, action, now_ms, boot)),
            None => wait.waiting.ready(&flake, begins_ms, now_ms, boot),
        };
        let Some(refused) = refused else { return Ok(Ok(0)) };
        pause = refused;
    }
    if pause == Pause::Want {
        let is_new = wait.wished().is_none();
        if is_new && most > 0 {
            wait.take_over(left.take(), run);
        }
        pause = wait.wish(run, at, &flake, now_ms, boot);
        if let Pause::Failed(_) = pause {
            // A caller that returns to its event loop leaves its wish to the next one, who needs it too.
            *left = wait.leave().filter(|_| is_new).or(*left);
        }
    }
    let (number, action) = match pause {
        Pause::Again | Pause::Want => (0.0, AGAIN),
        Pause::Until(until_ms) => (until_ms as f64, UNTIL),
        Pause::Sleep(pause) => (ms(pause), SLEEP),
        Pause::Failed(error) => return Err(error.into()),
    };
    module.answer(&[number]);
    Ok(Err(action))
}

exports! {
    /// The wait of one call for ids.
    fn run_wait_new(module, run: i32, ready: i32, longest_ms: f64) -> i32 {
        let run = module.get_mut::<Run>(run)?;
        let longest = Some(longest_ms).filter(|ms| !ms.is_nan()).map(duration);
        let waiting = match ready {
            0 => Waiting::new(run.timeout, longest),
            _ => Waiting::for_ready(run.timeout),
        };
        let last = run.waits.iter().map(|(number, _)| *number).max();
        let number = last.unwrap_or(0).wrapping_add(1);
        run.waits.push((number, RunWait::new(waiting)));
        Ok(number)
    }

    /// The wait is over.
    fn run_wait_end(module, run: i32, wait: i32) -> i32 {
        module.get_mut::<Run>(run)?.waits.retain(|(number, ..)| *number != wait);
        Ok(0)
    }

    /// How many ids came, or what to do before they can.
    fn run_wait(module, run: i32, wait: i32, most: i32, wall_ms: f64, boot_ms: f64) -> i32 {
        let most = most.clamp(0, MOST_IDS as i32) as usize;
        let found = asked(module, run, wait, most, clocks(wall_ms, boot_ms))?;
        Ok(found.unwrap_or_else(|action| action))
    }

    /// 0, or why a batch of `n` ids cannot be had by a thread that may wait for `longest_ms` at most.
    fn run_check_batch(module, run: i32, n: i32, longest_ms: f64, wall_ms: f64, boot_ms: f64) -> i32 {
        let now_ms = module.filtered_ms(clocks(wall_ms, boot_ms));
        let run = module.get::<Run>(run)?;
        let waiting = Waiting::new(run.timeout, Some(duration(longest_ms)));
        if let Some(flake) = run.run.generator() {
            waiting.check_batch(flake, n.max(0) as usize, now_ms)?;
        }
        Ok(0)
    }
}
