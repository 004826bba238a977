//! Who can reach a server.

use crate::options::Options;

/// What is missing where other hosts can reach an address, each as a line.
pub(super) fn exposure(options: &Options, has_tokens: bool) -> Vec<String> {
    let has_tls = options.tls_cert.is_some();
    let missing = match (has_tls, has_tokens) {
        (true, true) => return Vec::new(),
        (true, false) if options.tls_client_ca.is_some() => return Vec::new(),
        (true, false) => {
            "there are no tokens, and every host that reaches this address may take ids: make one by leafid-server token, and \
             set --tokens"
        }
        (false, true) => {
            "there is no TLS, and whoever sees the packets reads the tokens: set --tls-cert and --tls-key"
        }
        (false, false) => {
            "there are neither TLS nor tokens: every host that reaches this address may take ids; see that only yours do, or \
             set --tokens, --tls-cert and --tls-key"
        }
    };
    let addresses = [("listen", Some(options.listen)), ("admin-listen", options.admin_listen)];
    let exposed = addresses
        .into_iter()
        .filter_map(|(option, address)| Some((option, address?)))
        .filter(|(_, address)| !address.ip().is_loopback());
    exposed.map(|(option, address)| format!("{option} {address}: {missing}")).collect()
}
