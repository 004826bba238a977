//! The rates of clients: that of a token, or of an address where there are no tokens.
//!
//! It is the generic cell rate algorithm (ITU-T I.371): all that is known of a client is the time at which it has rested
//! and may make a whole burst. A request moves that time on by one interval, and is refused if it would then lie further
//! ahead than a whole burst.

use crate::access::Grant;
use crate::clock::running;
use crate::options::Options;
use axum::body::Body;
use axum::http::header::{HeaderValue, RETRY_AFTER};
use axum::http::{Response, StatusCode};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

/// Addresses beyond these share one rate.
const MOST_CLIENTS: usize = 100_000;
/// When more are known, those that have rested are forgotten.
const FEW_CLIENTS: usize = 1_024;
/// How often: there may be very many.
const PAUSE: Duration = Duration::from_secs(1);

/// Whose requests are counted together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Client {
    /// By its hash.
    Token([u8; 32]),
    Address(IpAddr),
    /// All addresses that came when too many were known.
    Others,
}

/// The rate of `--max-rate`, and the clients that have used of it.
pub(crate) struct RateLimits {
    per_second: u32,
    interval: Duration,
    /// The intervals of a burst.
    burst: Duration,
    clients: Mutex<Clients>,
}

#[derive(Default)]
struct Clients {
    /// When each has rested.
    rest_at: HashMap<Client, Duration>,
    /// When those that had rested were forgotten last.
    swept: Duration,
}

/// Why a request is refused: too many came.
pub(super) struct TooMany {
    message: String,
    wait: Duration,
}

impl RateLimits {
    /// `None`: the options say nothing of a rate.
    pub(crate) fn of(options: &Options) -> Option<Arc<RateLimits>> {
        let per_second = options.max_rate;
        (per_second > 0)
            .then(|| Arc::new(RateLimits::new(per_second, options.max_burst.unwrap_or(per_second))))
    }

    fn new(per_second: u32, burst: u32) -> RateLimits {
        let interval = Duration::from_secs(1) / per_second;
        RateLimits { per_second, interval, burst: interval * burst, clients: Mutex::default() }
    }

    /// The client of a new connection, until a request has a token.
    pub(super) fn connected(&self, address: IpAddr) -> Client {
        self.clients.lock().connected(network(address), running())
    }

    /// Counts a request. `address` is the client of its connection. One that is refused costs nothing.
    pub(super) fn take(&self, grant: Option<&Grant>, address: Client) -> Result<(), TooMany> {
        let client = grant.and_then(Grant::digest).map_or(address, Client::Token);
        self.take_at(client, running())
    }

    fn take_at(&self, client: Client, now: Duration) -> Result<(), TooMany> {
        let mut clients = self.clients.lock();
        let rest_at = clients.rest_at.entry(client).or_default();
        let next = now.max(*rest_at) + self.interval;
        let wait = next.saturating_sub(now + self.burst);
        if wait.is_zero() {
            *rest_at = next;
            return Ok(());
        }
        let message = format!("more than {} requests a second: see --max-rate", self.per_second);
        Err(TooMany { message, wait })
    }
}

impl Clients {
    fn connected(&mut self, address: IpAddr, now: Duration) -> Client {
        if self.rest_at.len() > FEW_CLIENTS && now.saturating_sub(self.swept) >= PAUSE {
            self.rest_at.retain(|_, rest_at| *rest_at > now);
            self.swept = now;
        }
        let client = Client::Address(address);
        match self.rest_at.len() < MOST_CLIENTS || self.rest_at.contains_key(&client) {
            true => client,
            false => Client::Others,
        }
    }
}

impl TooMany {
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// The same response with status 429 and the time to wait, in whole seconds.
    pub(super) fn marked(&self, mut response: Response<Body>) -> Response<Body> {
        *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
        let seconds = self.wait.as_secs() + u64::from(self.wait.subsec_nanos() > 0);
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        response
    }
}

/// The addresses that count as one: of IPv6 those of a /64, which one host can have.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn asks(limits: &RateLimits, number: u32, now: Duration) -> Result<(), Duration> {
        let client = limits.clients.lock().connected(IpAddr::V4(number.into()), now);
        limits.take_at(client, now).map_err(|refused| refused.wait)
    }

    #[test]
    fn a_burst_passes_and_then_the_rate_and_the_wait_that_is_told_is_enough() {
        let (limits, mut now) = (RateLimits::new(3, 5), 100 * SECOND);
        let interval = limits.interval;
        for passes in [5].into_iter().chain([1; 30]) {
            assert!((0..passes).all(|_| asks(&limits, 0, now).is_ok()), "{now:?}");
            assert_eq!(
                [(); 3].map(|()| asks(&limits, 0, now)),
                [Err(interval); 3],
                "a refusal costs nothing"
            );
            assert_eq!(asks(&limits, 0, now + interval / 4), Err(interval - interval / 4));
            now += interval;
        }
        assert_eq!(asks(&limits, 1, now), Ok(()), "another client");
        now += 600 * SECOND;
        assert!((0..5).all(|_| asks(&limits, 0, now).is_ok()) && asks(&limits, 0, now).is_err(), "one burst");
    }

    #[test]
    fn a_client_is_forgotten_once_it_has_rested() {
        let (limits, few) = (RateLimits::new(1, 1), FEW_CLIENTS as u32);
        for number in 0..10 * few {
            let now = number * SECOND / 512;
            assert!(asks(&limits, number, now).is_ok() && asks(&limits, number, now).is_err());
        }
        assert!(limits.clients.lock().rest_at.len() <= 2 * FEW_CLIENTS);
        assert!(asks(&limits, 10 * few - 1, 10 * few * SECOND / 512).is_err(), "it has not rested");
    }

    #[test]
    fn addresses_beyond_the_bound_share_a_rate() {
        let (limits, most) = (RateLimits::new(1, 1), MOST_CLIENTS as u32);
        assert!((0..most).all(|number| asks(&limits, number, SECOND).is_ok()));
        assert!(asks(&limits, most, SECOND).is_ok() && asks(&limits, most + 1, SECOND).is_err());
        assert_eq!(asks(&limits, 0, SECOND * 3 / 2), Err(SECOND / 2), "a known one keeps its own");
        assert_eq!(limits.clients.lock().rest_at.len(), MOST_CLIENTS + 1);
        assert!((0..3).all(|more| asks(&limits, most + more, 3 * SECOND).is_ok()), "all have rested");
    }

    #[test]
    fn a_host_is_one_address() {
        let same = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|text| text.parse().map(network));
            assert!(one.is_ok() && other.is_ok());
            one == other
        };
        assert!(same("2001:db8::1", "2001:db8::ffff:0:0:1"));
        assert!(!same("2001:db8::1", "2001:db8:0:1::1"));
        assert!(same("::ffff:10.0.0.1", "10.0.0.1") && !same("10.0.0.1", "10.0.0.2"));
    }
}
