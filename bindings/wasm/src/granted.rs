//! Generators whose spans the host grants itself, in a module without the machines.

use crate::argument::{optional, within};
use crate::module::{Kind, exports};
use alloc::sync::Arc;
use leafid_core::{Layout, OnClockBackwards, OnExhausted, Rules, Snowflake, Span, options};

impl Kind for Rules {
    const NAME: &'static str = "rules";
}

exports! {
    /// The tick of a time; -1 before the epoch.
    fn layout_tick_at(module, layout: i32, ms: f64) -> f64 {
        let layout = module.get::<Layout>(layout)?;
        Ok(layout.tick_at(ms as i64).map_or(-1.0, |tick| tick as f64))
    }

    /// Unix milliseconds of the start of a tick.
    fn layout_tick_start_ms(module, layout: i32, tick: f64) -> f64 {
        let layout = module.get::<Layout>(layout)?;
        let tick = (tick as u64).min(layout.last_tick() + 1);
        Ok(layout.tick_start_ms(tick) as f64)
    }

    /// The rules of a generator.
    fn rules_new(
        module, on_clock_backwards_length: i32, on_exhausted_length: i32, max_backwards_ms: f64, random_start: f64
    ) -> i32 {
        let [backwards, exhausted] = module.texts([on_clock_backwards_length, on_exhausted_length])?;
        let backwards = match backwards {
            "" => OnClockBackwards::default(),
            text => OnClockBackwards::parse(text)?,
        };
        let exhausted = match exhausted {
            "" => OnExhausted::default(),
            text => OnExhausted::parse(text)?,
        };
        let max_backwards_ms = optional("max_backwards_ms", max_backwards_ms)?;
        let random_start = optional("random_start", random_start)?;
        let rules = options::rules(backwards, max_backwards_ms, exhausted, random_start)?;
        Ok(module.add(rules))
    }

    /// The same rules for a generator whose record may not survive: it never runs ahead of the clock.
    fn rules_never_ahead(module, rules: i32) -> i32 {
        let rules = module.get::<Rules>(rules)?.never_ahead();
        Ok(module.add(rules))
    }

    /// A generator that starts at the tick `from` and has no span yet.
    fn snowflake_new(module, layout: i32, rules: i32, worker_id: f64, from: f64, seed: i64) -> i32 {
        let layout = *module.get::<Layout>(layout)?;
        let rules = *module.get::<Rules>(rules)?;
        let worker_id = within("worker_id", worker_id, layout.max_worker_id())?;
        let from = within("from", from, layout.last_tick() + 1)?;
        Ok(module.add(Arc::new(Snowflake::new(layout, rules, worker_id, from, seed as u64))))
    }

    /// Adds a span, once it is durable.
    fn snowflake_grant(module, snowflake: i32, from: f64, until: f64) -> i32 {
        module.get::<Arc<Snowflake>>(snowflake)?.grant(Span { from: from as u64, until: until as u64 });
        Ok(0)
    }

    /// Ends the generator; the first tick without an id of it, or -1 if it has ended before.
    fn snowflake_seal(module, snowflake: i32) -> f64 {
        Ok(module.get::<Arc<Snowflake>>(snowflake)?.seal().map_or(-1.0, |tick| tick as f64))
    }

    /// The first tick without an id, or -1 if the generator has ended.
    fn snowflake_first_unused(module, snowflake: i32) -> f64 {
        Ok(module.get::<Arc<Snowflake>>(snowflake)?.first_unused().map_or(-1.0, |tick| tick as f64))
    }

    /// The first tick outside the granted spans.
    fn snowflake_until(module, snowflake: i32) -> f64 {
        Ok(module.get::<Arc<Snowflake>>(snowflake)?.until() as f64)
    }

    /// How many ids one call of `snowflake_reserve` could return of the clock's tick.
    fn snowflake_left_in_tick(module, snowflake: i32, now_ms: f64) -> f64 {
        Ok(module.get::<Arc<Snowflake>>(snowflake)?.left_in_tick(now_ms as i64) as f64)
    }

    /// The number of ids that were issued or reserved.
    fn snowflake_issued(module, snowflake: i32) -> f64 {
        Ok(module.get::<Arc<Snowflake>>(snowflake)?.issued() as f64)
    }
}
