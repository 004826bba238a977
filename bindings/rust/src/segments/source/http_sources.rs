//! The sources that are servers, one for each protocol.

use super::callback::SegmentSource;
use super::dialects;
use super::fetch_request::FetchRequest;
use super::single_ids::SingleIdSource;
use super::source_properties::{Servers, SourceProperties};
use crate::config::http_options::opened;
use crate::http::{HttpOptions, ServerPool};
use crate::os::env;
use crate::segments::options::{Protocol, SegmentsOptions};
use leafid_core::options::{allowed, block_size, check_leaf_order, check_tinyid_step};
use leafid_core::wire::leaf::LeafMode;
use leafid_core::{Error, Fetched, IdOrder, Result};
use std::sync::Arc;

/// Connections to each server, and concurrent requests to a Leaf.
const CONNECTIONS: i64 = 4;

/// The source for the servers of the options. Errors: `invalid_argument`.
pub(crate) fn source(options: &SegmentsOptions) -> Result<SourceProperties> {
    let protocol = options.protocol.unwrap_or_default();
    let mut http = http_options(options)?;
    let connections = http.connections;
    let block_size = block_size(options.block_size, protocol == Protocol::Leaf)?;
    let name = protocol.name().to_owned();
    let mut properties = match protocol {
        Protocol::Leaf | Protocol::LeafSnowflake => {
            check_leaf_order(options.ordered_source)?;
            let (mode, order) = match protocol {
                Protocol::Leaf => (LeafMode::Segment { block_size }, IdOrder::Ranges),
                _ => (LeafMode::Snowflake, IdOrder::Sparse),
            };
            let (servers, env) = (open(http)?, env::of_process());
            let get = {
                let servers = Arc::clone(&servers);
                move |tag: &str| dialects::leaf(&servers, mode, tag, env.number()?)
            };
            let source = SegmentSource::on_pool(SingleIdSource::new(mode.each() as u64, connections, get));
            let properties = SourceProperties::new(source, name, true, order);
            let check_tag = move |tag: &str| mode.check_tag(tag);
            SourceProperties {
                servers: Some(servers),
                check_tag: Some(Box::new(check_tag)),
                one_by_one: true,
                ..properties
            }
        }
        Protocol::Range => {
            let order = options.order(true);
            let ordered = order == IdOrder::Ascending;
            let fetch =
                move |servers: &_, request: &_, nonce| dialects::range(servers, ordered, request, nonce);
            blocking(open(http)?, name, order, fetch)
        }
        Protocol::Tinyid => {
            check_tinyid_step(options.step)?;
            let token = http.token.take().unwrap_or_default();
            let fetch = move |servers: &_, request: &_, nonce| {
                dialects::tinyid(servers, &token, request, nonce).map(Fetched::from)
            };
            blocking(open(http)?, name, options.order(false), fetch)
        }
    };
    properties.threads = connections;
    Ok(properties)
}

/// Reads files and the environment. Errors: `invalid_argument`.
fn open(options: HttpOptions) -> Result<Arc<ServerPool>> {
    let what = "the certificates of ca_file, or of the system,";
    opened(what, move || ServerPool::new(options)).map(Arc::new)
}

/// The source whose `fetch` waits for a range. `fetch` gets a new random number for each call.
fn blocking(
    servers: Arc<ServerPool>,
    name: String,
    order: IdOrder,
    fetch: impl Fn(&ServerPool, &FetchRequest, u128) -> Result<Fetched> + Send + Sync + 'static,
) -> SourceProperties {
    let (asked, env) = (Arc::clone(&servers), env::of_process());
    let source = SegmentSource::blocking(move |request| {
        Ok(Some(fetch(&asked, &as_urgent(request), env.number()?)?.into()))
    });
    SourceProperties { servers: Some(servers), ..SourceProperties::new(source, name, true, order) }
}

impl Servers for ServerPool {
    fn back_off_ms(&self, urgent: bool) -> Option<i64> {
        self.back_off_ms(urgent)
    }

    fn denies(&self, tag: &str) -> bool {
        self.denies(tag)
    }

    fn last_errors(&self) -> Vec<(String, Option<Error>)> {
        self.last_errors()
    }

    fn close_idle(&self) {
        self.close_idle();
    }

    fn close(&self) {
        self.close();
    }
}

/// Servers are chosen as if a caller waited, because one may start to wait while a server that failed before is tried.
fn as_urgent(request: &FetchRequest) -> FetchRequest {
    FetchRequest { urgent: true, ..request.clone() }
}

fn http_options(options: &SegmentsOptions) -> Result<HttpOptions> {
    let connections = options.connections.unwrap_or(CONNECTIONS);
    let connections = usize::try_from(connections)
        .map_err(|_| Error::invalid("connections", connections, allowed("connections")))?;
    options.access.to("servers", options.servers.0.clone(), connections)
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
            let properties = source(&builder.options).unwrap();
            let one_by_one = matches!(protocol, Protocol::Leaf | Protocol::LeafSnowflake);
            assert_eq!((properties.order, properties.one_by_one), (order, one_by_one), "{protocol:?}");
            let asked = properties.servers.map(|servers| servers.last_errors());
            assert_eq!(asked.map(|errors| errors.len()), Some(1), "{protocol:?}");
        }
    }

    #[test]
    fn who_may_come_to_wait_is_asked_for_as_if_somebody_did() {
        let request = FetchRequest { tag: "order".into(), step: 5, after: 7, urgent: false };
        assert_eq!(as_urgent(&request), FetchRequest { urgent: true, ..request });
    }
}
