//! A snowflake as an object of closures over one handle.

use crate::error::thrown;
use crate::exit::close_at_exit;
use crate::options::{Fields, Options};
use leafid::{Result, Snowflake};
use napi::bindgen_prelude::{Env, FunctionCallContext, Object, ToNapiValue};
use napi_derive::napi;
use std::sync::Arc;

/// What a generator says of itself.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct Stats {
    /// The id space.
    pub name: String,
    /// The worker id.
    pub worker_id: u32,
    /// Where the records are kept.
    pub state_dir: String,
    /// The layout's name or bits.
    pub layout: String,
    /// The layout's epoch, Unix milliseconds.
    pub epoch_ms: i64,
    /// When the layout ends, Unix milliseconds.
    pub expires_at_ms: i64,
    /// Up to where the span is durable, Unix milliseconds.
    pub reserved_until_ms: i64,
    /// By how much the ids are ahead of the clock.
    pub lead_ms: i64,
    /// The open handles of the generator.
    pub handles: i64,
    /// The spans made durable since the start.
    pub renewals: i64,
    /// The renewals that failed.
    pub renewal_failures: i64,
    /// What the last failure said.
    pub last_error: Option<String>,
}

impl From<leafid::Stats> for Stats {
    fn from(stats: leafid::Stats) -> Stats {
        Stats {
            name: stats.name,
            worker_id: stats.worker_id,
            state_dir: stats.state_dir,
            layout: stats.layout,
            epoch_ms: stats.epoch_ms,
            expires_at_ms: stats.expires_at_ms,
            reserved_until_ms: stats.reserved_until_ms,
            lead_ms: stats.lead_ms,
            handles: stats.handles as i64,
            renewals: stats.renewals as i64,
            renewal_failures: stats.renewal_failures as i64,
            last_error: stats.last_error,
        }
    }
}

/// Opens a generator: `{ layout, next, fill, stats, workerId, close }`, usable until `close` or until collected.
#[napi(catch_unwind)]
pub fn open(env: &Env, options: Options) -> napi::Result<Object<'_>> {
    let flake = options.builder().and_then(|builder| builder.open());
    let flake = Arc::new(flake.map_err(|error| thrown(env, &error))?);
    close_at_exit(&flake);
    let mut handle = Object::new(env)?;
    handle.set("layout", Fields::from(flake.layout()))?;
    // Ids are never negative: as u64 they are BigInts of the same value.
    method(env, &mut handle, "next", &flake, |flake| Ok(flake.next()? as u64))?;
    method(env, &mut handle, "stats", &flake, |flake| Ok(Stats::from(flake.stats()?)))?;
    method(env, &mut handle, "workerId", &flake, |flake| flake.worker_id())?;
    method(env, &mut handle, "close", &flake, |flake| flake.close())?;
    let fill = flake.clone();
    let fill =
        env.create_function_from_closure::<(), _, _>("fill", move |context: FunctionCallContext| {
            let out: &mut [i64] = context.get(0)?;
            fill.fill(out).map_err(|error| thrown(context.env, &error))
        })?;
    handle.set("fill", fill)?;
    Ok(handle)
}

/// Adds a function without arguments. Node-API's trampoline turns a panic in it into an exception.
fn method<T, F>(
    env: &Env,
    handle: &mut Object,
    name: &str,
    flake: &Arc<Snowflake>,
    call: F,
) -> napi::Result<()>
where
    T: ToNapiValue + 'static,
    F: Fn(&Snowflake) -> Result<T> + 'static,
{
    let flake = flake.clone();
    let function = env
        .create_function_from_closure::<(), _, _>(name, move |context: FunctionCallContext| {
            call(&flake).map_err(|error| thrown(context.env, &error))
        })?;
    handle.set(name, function)
}
