//! The sources that are servers, one for each protocol.

use super::source_properties::{HostSource, SourceProperties};
use crate::config::http_options::opened;
use crate::http::{HttpOptions, ServerPool};
use crate::segments::options::{Protocol, SegmentsOptions};
use leafid_core::options::{allowed, block_size, check_leaf_order, check_tinyid_step};
use leafid_core::supply::{Dialect, Source};
use leafid_core::wire::leaf::LeafMode;
use leafid_core::{Error, IdOrder, Result};
use std::sync::Arc;

/// Connections to each server, and concurrent requests to a Leaf.
const CONNECTIONS: i64 = 4;

/// The source for the servers of the options. Errors: `invalid_argument`.
pub(crate) fn source(options: &SegmentsOptions) -> Result<SourceProperties> {
    let protocol = options.protocol.unwrap_or_default();
    let mut http = http_options(options)?;
    let connections = http.connections;
    let block_size = block_size(options.block_size, protocol == Protocol::Leaf)?;
    let (dialect, order) = match protocol {
        Protocol::Leaf => {
            check_leaf_order(options.ordered_source)?;
            (Dialect::Leaf(LeafMode::Segment { block_size }), IdOrder::Ranges)
        }
        Protocol::LeafSnowflake => {
            check_leaf_order(options.ordered_source)?;
            (Dialect::Leaf(LeafMode::Snowflake), IdOrder::Sparse)
        }
        Protocol::Range => {
            let order = options.order(true);
            (Dialect::Range { ordered: order == IdOrder::Ascending }, order)
        }
        Protocol::Tinyid => {
            check_tinyid_step(options.step)?;
            // It is tinyid's own, not a header.
            let token = http.token.take().unwrap_or_default();
            (Dialect::Tinyid { token }, options.order(false))
        }
    };
    let servers = open(http)?;
    Ok(SourceProperties {
        of_supply: Source::Servers { servers: Arc::new(servers.servers()), dialect, connections },
        host: HostSource::Servers(servers),
        order,
        threads: connections,
    })
}

/// Reads files and the environment. Errors: `invalid_argument`.
fn open(options: HttpOptions) -> Result<Arc<ServerPool>> {
    let what = "the certificates of ca_file, or of the system,";
    opened(what, move || ServerPool::new(options)).map(Arc::new)
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
            assert_eq!(properties.order, order, "{protocol:?}");
            let Source::Servers { servers, dialect, connections } = properties.of_supply else { panic!() };
            let one_by_one = matches!(protocol, Protocol::Leaf | Protocol::LeafSnowflake);
            assert_eq!((servers.servers.len(), connections), (1, 4), "{protocol:?}");
            assert_eq!(matches!(dialect, Dialect::Leaf(_)), one_by_one, "{protocol:?}");
        }
    }
}
