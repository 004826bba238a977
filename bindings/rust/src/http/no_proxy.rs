//! The list `NO_PROXY`, read as curl and Go read it.
//!
//! No library does: ureq 3.5 knows names and stars, but neither networks, bare suffixes, blanks nor ports. The matcher of
//! hyper-util 0.1 knows no ports, and brings all of hyper.

use std::net::IpAddr;

/// The servers that are asked without a proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NoProxy(Vec<NoProxyEntry>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct NoProxyEntry {
    hosts: Hosts,
    /// `None`: every port.
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Hosts {
    All,
    /// A name and all names below it.
    Domain(String),
    /// The names below a name.
    Below(String),
    Address(IpAddr),
    /// The addresses that begin with as many bits of this one.
    Network(IpAddr, u8),
}

impl NoProxy {
    /// Commas and blanks separate the entries.
    pub(super) fn parse(list: &str) -> NoProxy {
        let entries = list.split(|c: char| c == ',' || c.is_whitespace()).filter(|entry| !entry.is_empty());
        NoProxy(entries.map(NoProxyEntry::parse).collect())
    }

    /// `host` has no brackets.
    pub(super) fn contains(&self, host: &str, port: u16) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let address = host.parse::<IpAddr>().ok().map(|address| address.to_canonical());
        self.0
            .iter()
            .any(|entry| entry.port.is_none_or(|only| only == port) && entry.hosts.contain(&host, address))
    }
}

impl NoProxyEntry {
    fn parse(text: &str) -> NoProxyEntry {
        // A bare IPv6 address has colons and no port.
        let (host, port) = text.rsplit_once(':').unwrap_or((text, ""));
        match port.parse() {
            Ok(port) if host.ends_with(']') || !host.contains(':') => {
                NoProxyEntry { hosts: Hosts::parse(host), port: Some(port) }
            }
            _ => NoProxyEntry { hosts: Hosts::parse(text), port: None },
        }
    }
}

impl Hosts {
    fn parse(text: &str) -> Hosts {
        if text == "*" {
            return Hosts::All;
        }
        let bare: String = text.chars().filter(|c| !matches!(c, '[' | ']')).collect();
        if let Ok(address) = bare.parse::<IpAddr>() {
            return Hosts::Address(address.to_canonical());
        }
        if let Some((address, bits)) = bare.split_once('/')
            && let (Ok(address), Ok(bits)) = (address.parse::<IpAddr>(), bits.parse())
        {
            return Hosts::Network(address, bits);
        }
        let name = text.trim_end_matches('.').to_ascii_lowercase();
        match name.strip_prefix("*.") {
            Some(above) => Hosts::Below(above.into()),
            None => Hosts::Domain(name.trim_start_matches('.').into()),
        }
    }

    fn contain(&self, host: &str, address: Option<IpAddr>) -> bool {
        let below = |name: &str| host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
        match (self, address) {
            (Hosts::All, _) => true,
            (Hosts::Address(entry), Some(address)) => *entry == address,
            (Hosts::Network(entry, bits), Some(address)) => begins_alike(*entry, address, *bits),
            (Hosts::Domain(name), None) => host == name || below(name),
            (Hosts::Below(name), None) => below(name),
            _ => false,
        }
    }
}

/// Whether the first bits of two addresses are alike.
fn begins_alike(one: IpAddr, other: IpAddr, bits: u8) -> bool {
    let (differing, length) = match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => (u128::from(one.to_bits() ^ other.to_bits()), 32),
        (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits() ^ other.to_bits(), 128),
        _ => return false,
    };
    bits <= length && differing.checked_shr(u32::from(length - bits)).unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_curl_and_go_ask_directly() {
        for (list, host, port, is_direct) in [
            ("", "ids.example", 80, false),
            (" , ,", "ids.example", 80, false),
            ("*", "ids.example", 80, true),
            ("*", "10.1.2.3", 80, true),
            ("a, *", "ids.example", 80, true),
            ("ids.example", "ids.example", 80, true),
            ("IDS.Example.", "ids.EXAMPLE.", 80, true),
            // A bare suffix.
            ("example", "ids.example", 80, true),
            ("example", "idsexample", 80, false),
            ("ids.example", "example", 80, false),
            (".example", "ids.example", 80, true),
            // As curl since 7.86. Go takes only what is below.
            (".example", "example", 80, true),
            ("*.example", "ids.example", 80, true),
            ("*.example", "example", 80, false),
            // Blanks.
            ("a.example , ids.example", "ids.example", 80, true),
            ("a.example ids.example", "ids.example", 80, true),
            // Ports.
            ("ids.example:8080", "ids.example", 8080, true),
            ("ids.example:8080", "ids.example", 80, false),
            ("example:8080", "ids.example", 8080, true),
            ("ids.example:x", "ids.example", 80, false),
            ("10.1.2.3:8080", "10.1.2.3", 8080, true),
            ("10.1.2.3:8080", "10.1.2.3", 80, false),
            ("[fd00::1]:8080", "fd00::1", 8080, true),
            ("[fd00::1]:8080", "fd00::1", 80, false),
            // Addresses and networks.
            ("10.1.2.3", "10.1.2.3", 80, true),
            ("10.1.2.3", "ids.10.1.2.3", 80, false),
            ("10.0.0.0/8", "10.1.2.3", 80, true),
            ("10.0.0.0/8", "11.1.2.3", 80, false),
            ("10.1.2.3/8", "10.9.9.9", 80, true),
            ("10.1.2.2/31", "10.1.2.3", 80, true),
            ("10.1.2.2/32", "10.1.2.3", 80, false),
            ("0.0.0.0/0", "10.1.2.3", 80, true),
            ("0.0.0.0/0", "fd00::1", 80, false),
            ("0.0.0.0/0", "ids.example", 80, false),
            ("10.0.0.0/33", "10.1.2.3", 80, false),
            ("10.0.0.0/x", "10.1.2.3", 80, false),
            ("fd00::1", "fd00:0::1", 80, true),
            ("[fd00::1]", "fd00::1", 80, true),
            ("fd00::/8", "fd12::1", 80, true),
            ("fd00::/8", "fe80::1", 80, false),
            ("[fd00::]/8", "fd12::1", 80, true),
            ("::/0", "fd12::1", 80, true),
            ("10.1.2.3", "::ffff:10.1.2.3", 80, true),
            ("10.0.0.0/8", "::ffff:10.1.2.3", 80, true),
        ] {
            assert_eq!(NoProxy::parse(list).contains(host, port), is_direct, "{list:?} {host} {port}");
        }
    }
}
