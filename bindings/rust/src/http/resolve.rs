//! Name look-ups with a time limit, because the C library may take any time.

use crate::os;
use crate::os::mutex::lock;
use crate::tasks::with_timeout::{self, Timed};
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Mutex;
use std::time::Instant;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;
use ureq::{Error, Timeout};

/// The largest number of addresses of a host that are tried.
const MOST_ADDRESSES: usize = 8;
/// The largest number of concurrent look-ups of one name, as many as there are fetching threads. A hanging one counts
/// until it ends.
const MOST_LOOKUPS: usize = 4;

/// The names whose look-ups run in this process.
static UNDER_WAY: os::PerProcess<Mutex<Vec<String>>> = os::PerProcess::new();

/// The addresses of the host and port of a URL.
pub(super) fn addresses(uri: &Uri, by: Instant) -> Result<Vec<SocketAddr>, Error> {
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![(address, port).into()]);
    }
    let Some(under_way) = UnderWay::begin(host) else {
        return Err(io::Error::other(format!("{MOST_LOOKUPS} lookups of {host} hang")).into());
    };
    let name = host.to_owned();
    let patience = by.saturating_duration_since(Instant::now());
    // It runs plug-ins of the system, so it gets the stack of a user callback. The wait is bounded by the request's
    // deadline.
    let found = with_timeout::run_unless(patience, os::ThreadKind::UserCode, &mut || false, move || {
        let _under_way = under_way;
        (name.as_str(), port).to_socket_addrs().map(|found| found.take(MOST_ADDRESSES).collect::<Vec<_>>())
    });
    match found {
        Timed::Done(Ok(found)) if found.is_empty() => Err(Error::HostNotFound),
        Timed::Done(found) => Ok(found?),
        Timed::Out | Timed::Interrupted => Err(Error::Timeout(Timeout::Resolve)),
        Timed::TooMany => Err(io::Error::other("too many calls hang in this process").into()),
        Timed::NoThread => {
            Err(io::Error::other("the system cannot start a thread to look the name up").into())
        }
        Timed::Forked => Err(io::Error::other("this is a forked child").into()),
    }
}

/// A look-up that has not ended.
struct UnderWay(String);

impl UnderWay {
    fn begin(host: &str) -> Option<UnderWay> {
        let names = UNDER_WAY.get_or_install(Mutex::default);
        let mut names = lock(names);
        let same = names.iter().filter(|name| *name == host).count();
        (same < MOST_LOOKUPS).then(|| {
            names.push(host.into());
            UnderWay(host.into())
        })
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some(names) = UNDER_WAY.get() {
            let mut names = lock(names);
            if let Some(at) = names.iter().position(|name| *name == self.0) {
                names.swap_remove(at);
            }
        }
    }
}

/// Replaces ureq's own resolver, which starts threads. It finds nothing: [`super::connection::Connect`] looks names up.
#[derive(Debug)]
pub(crate) struct NoLookup;

impl Resolver for NoLookup {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        Ok(self.empty())
    }
}
