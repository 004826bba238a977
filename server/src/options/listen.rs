//! Addresses to listen at, as people write them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// `10.0.0.5:8080`, `[::1]:8080`, `localhost:8080`; all addresses are `:8080`, `*:8080` or `8080`. Errors: what is allowed.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    let ip = match host {
        "" | "*" => Ipv4Addr::UNSPECIFIED,
        host if host.eq_ignore_ascii_case("localhost") => Ipv4Addr::LOCALHOST,
        _ => return Err(wrong()),
    };
    // "+80" is a number for Rust.
    let port = if port.starts_with('+') { None } else { port.parse().ok() };
    port.map(|port: u16| (IpAddr::V4(ip), port).into()).ok_or_else(wrong)
}

fn wrong() -> String {
    "allowed: an address of this host and a port, as 10.0.0.5:8080, [::1]:8080 or localhost:8080; :8080 for all addresses"
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn an_address_is_read_as_people_write_it() {
        for (text, shown) in [
            ("8080", "0.0.0.0:8080"),
            (":8080", "0.0.0.0:8080"),
            ("*:8080", "0.0.0.0:8080"),
            ("localhost:8080", "127.0.0.1:8080"),
            ("LOCALHOST:0", "127.0.0.1:0"),
            ("10.0.0.5:80", "10.0.0.5:80"),
            ("[::]:80", "[::]:80"),
        ] {
            assert_eq!(address(text).map(|address| address.to_string()), Ok(shown.to_owned()), "{text}");
        }
        for text in [
            "",
            ":",
            "localhost",
            "ids.example.com:80",
            "65536",
            ":+80",
            "-1",
            "1.2.3:80",
            "http://localhost:80",
            "::1:80",
        ] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
