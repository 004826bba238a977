//! Supplies of ids: their tags, the ids of these, and the notices for the host.

use crate::argument::{duration, ms, variable};
use crate::host_call::HttpTo;
use crate::ids::{with_ids, write_run, write_segments};
use crate::module::{Result, exports, write, write_list};
use crate::supply_handle::{SupplyHandle, supply_of};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use leafid_core::Error;
use leafid_core::call::Clocks;
use leafid_core::http::HttpServers;
use leafid_core::options::{Environment, OptionOf, SupplyFrom, SupplyOptions, options_of_json};
use leafid_core::supply::{Source, TagId, closed};

/// No id is in memory: its fetch was asked for, or the line waits.
const USED_UP: i32 = -103;

/// Nothing here needs the time of day.
fn clocks(boot_ms: f64) -> Clocks {
    Clocks { wall_ms: 0, boot: duration(boot_ms) }
}

fn number(tag: TagId) -> f64 {
    tag.0 as f64
}

/// What gives the ids, and what its requests need.
fn source(options: &SupplyOptions) -> Result<(Source, Option<Arc<HttpTo>>)> {
    if let SupplyFrom::File { path, .. } = &options.from {
        let allowed = "servers or a callback: files need the native package";
        return Err(Error::invalid("servers", format!("file:{path}"), allowed).into());
    }
    let of_servers = options.from.servers().and_then(|of| {
        let to = HttpTo::new(of, options.from.header_token());
        Some((Source::of_servers(options, HttpServers::of(of, |_| None))?, Some(Arc::new(to))))
    });
    Ok(of_servers.unwrap_or((Source::Callback { is_deferred: true }, None)))
}

exports! {
    /// A supply.
    fn supply_new(module, json_length: i32, variables_length: i32, seed: i64) -> i32 {
        let [json, variables] = module.input([json_length, variables_length])?;
        let set = options_of_json(OptionOf::Segments, json)?;
        let variable = |name: &str| variable(variables, name);
        let environment = Environment { variable: &variable, host_name: "" };
        let options = SupplyOptions::parse(&set, &environment)?;
        let numbers = [ms(options.timeout), u8::from(options.persist).into()];
        let ((source, to), number) = (source(&options)?, module.next_number());
        write(&[&options.name, "\n", source.name()]);
        module.answer(&numbers);
        Ok(module.add(SupplyHandle::new(number, options, source, to, seed as u64)))
    }

    /// Where its marks are, before anything else is done.
    fn supply_place(module, supply: i32, length: i32) -> i32 {
        let [place] = module.texts([length])?;
        let place = String::from(place);
        supply_of(module, supply)?.place(&place);
        Ok(0)
    }

    /// The number of a tag. The input is its name.
    fn supply_tag(module, supply: i32, length: i32) -> f64 {
        let [name] = module.texts([length])?;
        let name = String::from(name);
        supply_of(module, supply)?.open_tag(&name).map(number)
    }

    /// The number of ids of a run.
    fn supply_run(module, supply: i32, tag: f64, most: i32, need: f64, boot_ms: f64) -> i32 {
        let now = clocks(boot_ms);
        let Some((run, has_next)) =
            supply_of(module, supply)?.run(tag, most.max(0) as usize, need as usize, now)?
        else {
            return Ok(USED_UP);
        };
        with_ids(|ids| write_run(&run, ids));
        module.answer(&[u8::from(has_next).into()]);
        Ok(run.count as i32)
    }

    /// Takes all of these ids, or none.
    fn supply_take(module, supply: i32, tag: f64, count: f64, boot_ms: f64) -> i32 {
        let taker = supply_of(module, supply)?;
        let has_next = taker.take(tag, count as usize, clocks(boot_ms))?;
        let written = taker.write_taken();
        module.answer(&[u8::from(has_next).into()]);
        Ok(written)
    }

    /// As `supply_take`, for the ids that it left.
    fn supply_taken(module, supply: i32) -> i32 {
        Ok(supply_of(module, supply)?.write_taken())
    }

    /// The line of the calls that wait for a tag, which the host keeps.
    fn supply_wait(module, supply: i32, tag: f64, waits: i32, boot_ms: f64) -> i32 {
        let (found, now) = (supply_of(module, supply)?, clocks(boot_ms));
        match waits {
            0 => found.rest(tag, now).map(|()| 0),
            _ => found.wait(tag, now).map(i32::from),
        }
    }

    /// Always an error: that of a call which has waited for so long.
    fn supply_late(module, supply: i32, tag: f64, waited_ms: f64, boot_ms: f64) -> i32 {
        let (supply, tag) = supply_of(module, supply)?.tag(tag)?;
        Err(supply.late(tag.id, duration(waited_ms), clocks(boot_ms)).into())
    }

    /// The state of a tag.
    fn supply_tag_stats(module, supply: i32, tag: f64) -> i32 {
        let (supply, tag) = supply_of(module, supply)?.tag(tag)?;
        let stats = supply.tag_stats(tag.id).ok_or_else(closed)?;
        module.answer(&[
            stats.left as f64,
            stats.ids as f64,
            stats.step as f64,
            u8::from(stats.fetching).into(),
            stats.fetches as f64,
            stats.failures as f64,
            stats.waits as f64,
            stats.waiting as f64,
        ]);
        let mut texts = Vec::from([stats.last_error.map(|error| error.message().to_string())]);
        for (outcome, count) in stats.outcomes {
            texts.extend([Some(outcome.into()), Some(count.to_string())]);
        }
        write_list(texts.iter().map(|text| text.as_deref().map(str::as_bytes)));
        Ok(write_segments(stats.current.into_iter().chain(stats.next)))
    }

    /// The number of its servers. Texts: the URL and the last error, or none, of each; then the names of its tags.
    fn supply_stats(module, supply: i32) -> i32 {
        let supply = &supply_of(module, supply)?.supply;
        let servers = supply.stats().servers;
        let mut texts = Vec::new();
        for (url, error) in &servers {
            texts.extend([Some(url.as_str()), error.as_ref().map(Error::message)]);
        }
        texts.extend(supply.tags().map(|(name, _)| Some(name)));
        write_list(texts.iter().map(|text| text.map(str::as_bytes)));
        Ok(servers.len() as i32)
    }
}
