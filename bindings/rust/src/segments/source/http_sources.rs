//! The sources that are servers, one for each protocol.

use super::callback::SegmentSource;
use super::fetch_request::FetchRequest;
use super::leaf::LeafServers;
use super::origin::Origin;
use super::range::RangeSource;
use super::tinyid::TinyidServers;
use crate::config::http_options::opened;
use crate::http::HttpOptions;
use crate::os::env;
use crate::segments::options::{Protocol, SegmentsOptions};
use leafid_core::options::allowed;
use leafid_core::wire::leaf::LeafMode;
use leafid_core::{Error, Fetched, IdOrder, LARGEST_STEP, Result};
use std::sync::Arc;

/// Connections to each server, and concurrent requests to a Leaf.
const CONNECTIONS: i64 = 4;

/// The source for the servers of the options. Errors: `invalid_argument`.
pub(crate) fn origin(options: &SegmentsOptions) -> Result<Origin> {
    let protocol = options.protocol.unwrap_or_default();
    let (http, env) = (http_options(options)?, Arc::clone(env::of_process()));
    let connections = http.connections;
    let what = "the certificates of ca_file, or of the system,";
    if let Some(block_size) = options.block_size.filter(|_| protocol != Protocol::Leaf) {
        return Err(Error::invalid("block_size", block_size, "set only with protocol \"leaf\""));
    }
    let mut origin = match protocol {
        Protocol::Leaf | Protocol::LeafSnowflake => {
            if options.ordered_source == Some(true) {
                let allowed =
                    "false with a Leaf: the ids of its nodes, and of several connections, interleave";
                return Err(Error::invalid("ordered_source", true, allowed));
            }
            let mode = match protocol {
                Protocol::Leaf => LeafMode::Segment { block_size: block_size(options)? },
                _ => LeafMode::Snowflake,
            };
            let servers = Arc::new(opened(what, move || LeafServers::new(http, mode, env))?);
            let order = if mode == LeafMode::Snowflake { IdOrder::Sparse } else { IdOrder::Ranges };
            let origin = Origin::new(servers.source(connections), protocol.name().into(), true, order);
            Origin { servers: Some(servers), one_by_one: true, ..origin }
        }
        Protocol::Range => {
            let order = options.order(true);
            let source = opened(what, move || RangeSource::new(http, order == IdOrder::Ascending))?;
            let source = Arc::new(source);
            let asks = Arc::clone(&source);
            let fetch = move |request: &_| Ok(Some(asks.fetch(&pressed(request), env.number()?)?.into()));
            let origin = Origin::new(SegmentSource::blocking(fetch), protocol.name().into(), true, order);
            Origin { servers: Some(source), ..origin }
        }
        Protocol::Tinyid => {
            if let Some(step) = options.step {
                let allowed = "not set with protocol \"tinyid\", whose table tiny_id_info says the step";
                return Err(Error::invalid("step", step, allowed));
            }
            let source = Arc::new(opened(what, move || TinyidServers::new(http))?);
            let asks = Arc::clone(&source);
            let fetch = move |request: &_| {
                let segment = asks.fetch(&pressed(request), env.number()?)?;
                Ok(Some(Fetched::from(segment).into()))
            };
            let order = options.order(false);
            let origin = Origin::new(SegmentSource::blocking(fetch), protocol.name().into(), true, order);
            Origin { servers: Some(source), ..origin }
        }
    };
    origin.threads = connections;
    Ok(origin)
}

/// Servers are chosen as if a caller waited, because one may start to wait while a server that failed before is tried.
fn pressed(request: &FetchRequest) -> FetchRequest {
    FetchRequest { urgent: true, ..request.clone() }
}

/// The number of ids in one response of a Leaf.
fn block_size(options: &SegmentsOptions) -> Result<i64> {
    match options.block_size {
        None => Ok(1),
        Some(size) if (2..=LARGEST_STEP).contains(&size) => Ok(size),
        Some(size) => Err(Error::invalid("block_size", size, allowed("block_size"))),
    }
}

fn http_options(options: &SegmentsOptions) -> Result<HttpOptions> {
    let connections = options.connections.unwrap_or(CONNECTIONS);
    let connections = usize::try_from(connections)
        .map_err(|_| Error::invalid("connections", connections, allowed("connections")))?;
    options.access.to("servers", options.servers.clone(), connections)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segments::Segments;

    #[test]
    fn each_protocol_gives_ids_in_its_own_way() {
        let cases = [
            (Protocol::Leaf, None, IdOrder::Ranges),
            (Protocol::LeafSnowflake, None, IdOrder::Sparse),
            (Protocol::Range, None, IdOrder::Ascending),
            (Protocol::Range, Some(false), IdOrder::Ranges),
            (Protocol::Tinyid, None, IdOrder::Ranges),
            (Protocol::Tinyid, Some(true), IdOrder::Ascending),
        ];
        for (protocol, ordered, order) in cases {
            let mut builder = Segments::builder().servers(["http://127.0.0.1:1"]).protocol(protocol);
            builder.options.ordered_source = ordered;
            let origin = origin(&builder.options).unwrap();
            let one_by_one = matches!(protocol, Protocol::Leaf | Protocol::LeafSnowflake);
            assert_eq!((origin.order, origin.one_by_one), (order, one_by_one), "{protocol:?}");
            let asked = origin.servers.map(|servers| servers.last_errors());
            assert_eq!(asked.map(|errors| errors.len()), Some(1), "{protocol:?}");
        }
    }

    #[test]
    fn who_may_come_to_wait_is_asked_for_as_if_somebody_did() {
        let request = FetchRequest { tag: "order".into(), step: 5, after: 7, urgent: false };
        assert_eq!(pressed(&request), FetchRequest { urgent: true, ..request });
    }
}
