//! Who holds a worker id, as its claim says it: `User-Agent: leafid/0.1.0 (host web-3; pid 4711)`; and which server this
//! one is. It is shown, and decides nothing.

use serde::Serialize;
use std::net::SocketAddr;

/// The longest text that is stored, in bytes.
const LONGEST: usize = 200;

/// The parts that are known; the others are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Holder {
    pub(crate) host: String,
    pub(crate) pid: String,
    /// Of leafid; of another program its name, a slash and its version.
    pub(crate) version: String,
    /// Of a server, where its listener is.
    pub(crate) url: String,
}

impl Holder {
    /// This server, which listens there.
    pub(crate) fn own(listens: SocketAddr, has_tls: bool) -> Holder {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let scheme = if has_tls { "https" } else { "http" };
        let url = match listens.ip().is_unspecified() {
            true => format!("{scheme}://{host}:{}", listens.port()),
            false => format!("{scheme}://{listens}"),
        };
        let version = concat!("leafid-server/", env!("CARGO_PKG_VERSION")).to_owned();
        Holder { host, pid: std::process::id().to_string(), version, url }
    }

    /// As it is stored.
    pub(crate) fn text(&self) -> String {
        let Holder { host, pid, version, url } = self;
        stored(&format!("{version} (host {host}; pid {pid}; url {url})"))
    }

    pub(crate) fn parse(text: &str) -> Holder {
        let (product, comment) = text.split_once(" (").unwrap_or((text, ""));
        let product = product.split(' ').next().unwrap_or_default();
        let version = product.strip_prefix("leafid/").unwrap_or(product).to_owned();
        let mut holder = Holder { version, ..Holder::default() };
        for part in comment.split(')').next().unwrap_or_default().split(';') {
            match part.trim().split_once(' ') {
                Some(("host", host)) => host.trim().clone_into(&mut holder.host),
                Some(("pid", pid)) => pid.trim().clone_into(&mut holder.pid),
                Some(("url", url)) => url.trim().clone_into(&mut holder.url),
                _ => {}
            }
        }
        holder
    }
}

/// The text of a client, cut so that each store can hold it.
pub(crate) fn stored(text: &str) -> String {
    text.chars().filter(|found| found.is_ascii_graphic() || *found == ' ').take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_is_who_its_claim_says() {
        let of = |text: &str| {
            let Holder { host, pid, version, url } = Holder::parse(&stored(text));
            [host, pid, version, url].join("|")
        };
        for (text, parts) in [
            ("leafid/0.1.0 (host web-3; pid 4711)", "web-3|4711|0.1.0|"),
            (
                "leafid-server/0.2.0 (host db; pid 7; url http://db:8080)",
                "db|7|leafid-server/0.2.0|http://db:8080",
            ),
            ("curl/8.1 more/2 (host  x )", "x||curl/8.1|"),
            ("leafid/0.1.0 (pid 1", "|1|0.1.0|"),
            ("", "|||"),
            ("a\nb\té", "||ab|"),
        ] {
            assert_eq!(of(text), parts, "{text}");
        }
        assert_eq!(stored(&"x".repeat(1000)).len(), LONGEST);
        let own = Holder::own(([0, 0, 0, 0], 8080).into(), true);
        assert_eq!(Holder::parse(&own.text()), own);
        assert!(own.url == format!("https://{}:8080", own.host) && !own.host.is_empty());
        assert_eq!(Holder::own(([127, 0, 0, 1], 80).into(), false).url, "http://127.0.0.1:80");
    }
}
