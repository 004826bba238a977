//! The statistics in the form for JavaScript.

use leafid::{Segment, SegmentsStats, ServerStats, Stats, TagStats};
use napi::bindgen_prelude::{BigInt, Env, Object, ToNapiValue};
use napi::sys;

/// Statistics that become an object of JavaScript. `None` is `null`.
pub struct Shown<T>(pub(crate) T);

macro_rules! object {
    ($stats:ident: $type:ty => $($field:literal: $value:expr,)*) => {
        impl ToNapiValue for Shown<$type> {
            unsafe fn to_napi_value(env: sys::napi_env, Shown($stats): Self) -> napi::Result<sys::napi_value> {
                let mut object = Object::new(&Env::from_raw(env))?;
                $(object.set($field, $value)?;)*
                // SAFETY: the caller's duty: the environment is live.
                unsafe { ToNapiValue::to_napi_value(env, &object) }
            }
        }
    };
}

object! { stats: Stats =>
    "name": stats.name,
    "workerId": stats.worker_id,
    "stateDir": stats.state_dir,
    "layout": stats.layout,
    "epochMs": stats.epoch_ms,
    "expiresAtMs": stats.expires_at_ms,
    "reservedUntilMs": stats.reserved_until_ms,
    "leadMs": stats.lead_ms,
    "clockLagMs": stats.clock_lag_ms,
    "leaseUntilMs": stats.lease_until_ms,
    "ids": stats.ids as i64,
    "claims": stats.claims as i64,
    "handles": stats.handles as i64,
    "renewals": stats.renewals as i64,
    "renewalFailures": stats.renewal_failures as i64,
    "lastError": stats.last_error,
}

object! { stats: SegmentsStats =>
    "name": stats.name,
    "source": stats.source,
    "servers": stats.servers.into_iter().map(Shown).collect::<Vec<_>>(),
    "stateDir": stats.state_dir,
    "tags": stats.tags.into_iter().map(Shown).collect::<Vec<_>>(),
}

object! { server: ServerStats =>
    "url": server.url,
    "lastError": server.last_error,
}

object! { stats: TagStats =>
    "tag": stats.tag,
    "current": stats.current.map(Shown),
    "next": stats.next.map(Shown),
    "left": i64::try_from(stats.left).unwrap_or(i64::MAX),
    "ids": stats.ids as i64,
    "step": stats.step,
    "fetching": stats.fetching,
    "fetches": stats.fetches as i64,
    "failures": stats.failures as i64,
    "waits": stats.waits as i64,
    "waiting": stats.waiting as i64,
    "lastError": stats.last_error,
}

object! { left: Segment =>
    "start": BigInt::from(left.start()),
    "end": BigInt::from(left.end()),
    "stride": BigInt::from(left.stride()),
}
