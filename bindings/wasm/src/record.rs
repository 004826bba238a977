//! Records of worker ids, and the extension of spans.

use crate::argument::{duration, ms, within};
use crate::module::{CallFailed, call, write};
use leafid_core::{
    Admission, ExtensionAction, Layout, Record, Rules, Snowflake, Span, SpanExtension, next_until,
};

/// The record of an unused worker id.
#[unsafe(no_mangle)]
extern "C" fn record_unused(worker_id: f64, layout: i32) -> i32 {
    call(|module| {
        let layout = *module.get::<Layout>(layout)?;
        let worker_id = within("worker_id", worker_id, layout.max_worker_id())?;
        Ok(module.add(Record::unused(worker_id, layout)))
    })
}

/// The worker id, the first tick and the end of its run, the time of the grant; the output is the owner in hex.
#[unsafe(no_mangle)]
extern "C" fn record_fields(record: i32) -> i32 {
    call(|module| {
        let record = module.get::<Record>(record)?;
        let numbers = [
            record.worker_id.into(),
            record.run.from as f64,
            record.run.until as f64,
            record.granted_at_ms as f64,
        ];
        let owner = alloc::format!("{:032x}", record.owner);
        module.answer(&numbers);
        write(&[&owner]);
        Ok(0)
    })
}

/// The layout of a record, as a new handle.
#[unsafe(no_mangle)]
extern "C" fn record_layout(record: i32) -> i32 {
    call(|module| {
        let layout = module.get::<Record>(record)?.layout;
        Ok(module.add(layout))
    })
}

/// Checks the order and the number of a record's spans.
#[unsafe(no_mangle)]
extern "C" fn record_check(record: i32) -> i32 {
    call(|module| {
        module.get::<Record>(record)?.check()?;
        Ok(0)
    })
}

/// Whether a new generator may start: 0 at the answer's tick, 1 when the clock reads the answer.
#[unsafe(no_mangle)]
extern "C" fn record_admit(record: i32, rules: i32, now_ms: f64) -> i32 {
    call(|module| {
        let rules = module.get::<Rules>(rules)?;
        match module.get::<Record>(record)?.admit(rules, now_ms as i64) {
            Admission::From(tick) => {
                module.answer(&[tick as f64]);
                Ok(0)
            }
            Admission::WaitUntil(ms) => {
                module.answer(&[ms as f64]);
                Ok(1)
            }
            Admission::Refused(error) => Err(CallFailed::from(error)),
        }
    })
}

/// A new record, made from an old one.
fn changed(record: i32, change: impl FnOnce(&Record) -> leafid_core::Result<Record>) -> i32 {
    call(|module| {
        let new = change(module.get::<Record>(record)?)?;
        Ok(module.add(new))
    })
}

/// The record of the next run. The two halves of `owner` are random.
#[unsafe(no_mangle)]
extern "C" fn record_begin(
    record: i32,
    from: f64,
    until: f64,
    granted_at_ms: f64,
    owner_high: i64,
    owner_low: i64,
) -> i32 {
    let owner = u128::from(owner_high as u64) << 64 | u128::from(owner_low as u64);
    let run = Span { from: from as u64, until: until as u64 };
    changed(record, |record| Ok(record.begin(run, granted_at_ms as i64, owner)))
}

/// The record of the current run with one more span.
#[unsafe(no_mangle)]
extern "C" fn record_extend(record: i32, from: f64, until: f64, granted_at_ms: f64) -> i32 {
    let span = Span { from: from as u64, until: until as u64 };
    changed(record, |record| Ok(record.extend(span, granted_at_ms as i64)))
}

/// The record after a clean end, whose run ends at the sealed generator's first unused tick.
#[unsafe(no_mangle)]
extern "C" fn record_closed(record: i32, first_unused: f64, now_ms: f64) -> i32 {
    changed(record, |record| Ok(record.clone().closed(first_unused as u64, now_ms as i64)))
}

/// The older record of a file with a damaged slot, above all that the damaged one may have granted.
#[unsafe(no_mangle)]
extern "C" fn record_after_lost_slot(record: i32, rules: i32, now_ms: f64) -> i32 {
    call(|module| {
        let (record, rules) = (module.get::<Record>(record)?, module.get::<Rules>(rules)?);
        let raised = record.clone().after_lost_slot(rules, now_ms as i64);
        Ok(module.add(raised))
    })
}

/// The record for ids that start at the clock again. It skips all spans that were granted at or above the clock.
#[unsafe(no_mangle)]
extern "C" fn record_reset(record: i32, now_ms: f64) -> i32 {
    changed(record, |record| record.reset(now_ms as i64))
}

/// The same record with all ticks below `floor` used.
#[unsafe(no_mangle)]
extern "C" fn record_raised_to(record: i32, floor: f64) -> i32 {
    changed(record, |record| Ok(record.clone().raised_to(floor as u64)))
}

/// The first tick at or above `tick` that a reset did not skip.
#[unsafe(no_mangle)]
extern "C" fn record_first_free(record: i32, tick: f64) -> f64 {
    call(|module| Ok(module.get::<Record>(record)?.first_free(tick as u64) as f64))
}

/// The end of a span that starts at `from`; -1 while the clock leaves no room for it.
#[unsafe(no_mangle)]
extern "C" fn record_next_until(record: i32, rules: i32, from: f64, now_ms: f64, age_ms: f64) -> f64 {
    call(|module| {
        let (record, rules) = (module.get::<Record>(record)?, module.get::<Rules>(rules)?);
        let until =
            next_until(&record.layout, rules, &record.skipped, from as u64, now_ms as i64, age_ms as i64);
        Ok(until.map_or(-1.0, |until| until as f64))
    })
}

/// The extension of one generator's spans. `opened_ms` is the boot time of its opening.
#[unsafe(no_mangle)]
extern "C" fn extension_new(opened_ms: f64) -> i32 {
    call(|module| Ok(module.add(SpanExtension::new(duration(opened_ms)))))
}

/// What to do about the span: 0 nothing, 1 write the answer's span and then grant it, 2 nothing, because there is no
/// room yet, 3 renew the lease first. `lease_until` is infinite without a lease. A generator that has ended needs
/// nothing.
#[unsafe(no_mangle)]
extern "C" fn extension_poll(
    extension: i32,
    snowflake: i32,
    record: i32,
    lease_until: f64,
    now_ms: f64,
    boot_ms: f64,
) -> i32 {
    call(|module| {
        let snowflake = module.get::<Snowflake>(snowflake)?;
        let (record, extension) = (module.get::<Record>(record)?, module.get::<SpanExtension>(extension)?);
        let Some(first_unused) = snowflake.first_unused() else { return Ok(0) };
        let action = extension.poll(
            snowflake.rules(),
            record,
            first_unused,
            // Infinity becomes the largest number.
            lease_until as u64,
            now_ms as i64,
            duration(boot_ms),
        );
        Ok(match action {
            ExtensionAction::NotNeeded => 0,
            ExtensionAction::Extend(span) => {
                module.answer(&[span.from as f64, span.until as f64]);
                1
            }
            ExtensionAction::NoRoom => 2,
            ExtensionAction::LeaseShort => 3,
        })
    })
}

/// The record was written.
#[unsafe(no_mangle)]
extern "C" fn extension_written(extension: i32) -> i32 {
    call(|module| {
        module.get_mut::<SpanExtension>(extension)?.written();
        Ok(0)
    })
}

/// The record was not written; the answer is how long until the next try, in milliseconds.
#[unsafe(no_mangle)]
extern "C" fn extension_failed(extension: i32) -> f64 {
    call(|module| {
        let extension = module.get_mut::<SpanExtension>(extension)?;
        extension.failed();
        Ok(ms(extension.back_off()))
    })
}

/// How long until the next poll, in milliseconds; -1 if the generator has ended, or was not in use for a minute.
#[unsafe(no_mangle)]
extern "C" fn extension_due_in_ms(snowflake: i32, now_ms: f64) -> f64 {
    call(|module| {
        let snowflake = module.get::<Snowflake>(snowflake)?;
        let (layout, now_ms) = (snowflake.layout(), now_ms as i64);
        let in_use = snowflake
            .first_unused()
            .filter(|first_unused| SpanExtension::is_in_use(layout, *first_unused, now_ms, false));
        Ok(in_use.map_or(-1.0, |first_unused| {
            ms(SpanExtension::due_in(layout, snowflake.until(), first_unused, now_ms))
        }))
    })
}
