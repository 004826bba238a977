//! The rates of clients: that of a token, or of an address where there are no tokens.

use crate::access::Grant;
use crate::clock::running;
use crate::options::Options;
use crate::rate::{Bucket, RequestRate};
use axum::body::Body;
use axum::http::header::{HeaderValue, RETRY_AFTER};
use axum::http::{Response, StatusCode};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

/// Addresses beyond these share one bucket.
const MOST_ADDRESSES: usize = 100_000;
/// When so many addresses are known, those that have rested are forgotten.
const FEW_ADDRESSES: usize = 1_024;

/// The bucket of the address that a connection came from.
#[derive(Clone)]
pub(super) struct AddressBucket(Arc<Bucket>);

/// The rate of `--max-rate`, and the buckets of the addresses.
pub(super) struct RateLimits {
    rate: RequestRate,
    per_second: u32,
    addresses: Mutex<Addresses>,
}

#[derive(Default)]
struct Addresses {
    buckets: HashMap<IpAddr, AddressBucket>,
    others: Option<AddressBucket>,
    /// The number of addresses at which those that have rested are forgotten.
    sweep_at: usize,
}

/// Why a request is refused: too many came.
pub(super) struct TooMany {
    message: String,
    wait: Duration,
}

impl RateLimits {
    /// `None`: the options say nothing of a rate.
    pub(super) fn new(options: &Options) -> Option<RateLimits> {
        let per_second = options.max_rate;
        let rate = RequestRate::new(per_second, options.max_burst.unwrap_or(per_second));
        (per_second > 0).then(|| RateLimits { rate, per_second, addresses: Mutex::default() })
    }

    /// The bucket of a new connection.
    pub(super) fn connected(&self, address: IpAddr) -> AddressBucket {
        self.addresses.lock().bucket(network(address), running())
    }

    /// Counts a request. `address` is the bucket of its connection.
    pub(super) fn take(&self, grant: Option<&Grant>, address: &AddressBucket) -> Result<(), TooMany> {
        let bucket = grant.and_then(Grant::bucket).unwrap_or(&address.0);
        bucket.take(self.rate, running()).map_err(|wait| TooMany {
            message: format!("more than {} requests a second: see --max-rate", self.per_second),
            wait,
        })
    }
}

impl Addresses {
    fn bucket(&mut self, address: IpAddr, now: Duration) -> AddressBucket {
        if let Some(bucket) = self.buckets.get(&address) {
            return bucket.clone();
        }
        if self.buckets.len() >= self.sweep_at.max(FEW_ADDRESSES) {
            // One that is in use, or not full, says something that a new one would not.
            self.buckets.retain(|_, bucket| Arc::strong_count(&bucket.0) > 1 || !bucket.0.is_full(now));
            self.sweep_at = 2 * self.buckets.len();
        }
        let new = || AddressBucket(Arc::default());
        match self.buckets.len() < MOST_ADDRESSES {
            true => self.buckets.entry(address).or_insert_with(new).clone(),
            false => self.others.get_or_insert_with(new).clone(),
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

    fn v4(number: u32) -> IpAddr {
        IpAddr::V4(number.into())
    }

    #[test]
    fn an_address_keeps_its_bucket_while_that_is_used_or_not_full() {
        let (mut addresses, rate, later) =
            (Addresses::default(), RequestRate::new(1, 1), Duration::from_secs(2));
        let connected = addresses.bucket(v4(0), Duration::ZERO);
        assert!(addresses.bucket(v4(1), later).0.take(rate, later).is_ok());
        for number in 2..10 * FEW_ADDRESSES as u32 {
            addresses.bucket(v4(number), later);
        }
        assert!(addresses.buckets.len() <= 2 * FEW_ADDRESSES, "{}", addresses.buckets.len());
        assert!(Arc::ptr_eq(&addresses.bucket(v4(0), later).0, &connected.0));
        assert!(addresses.bucket(v4(1), later).0.take(rate, later).is_err());
    }

    #[test]
    fn addresses_beyond_the_bound_share_a_bucket() {
        let (mut addresses, rate) = (Addresses::default(), RequestRate::new(1, 1));
        for number in 0..MOST_ADDRESSES as u32 {
            assert!(addresses.bucket(v4(number), Duration::ZERO).0.take(rate, Duration::ZERO).is_ok());
        }
        let [one, other] =
            [1, 2].map(|more| addresses.bucket(v4(MOST_ADDRESSES as u32 + more), Duration::ZERO));
        assert!(Arc::ptr_eq(&one.0, &other.0));
        assert_eq!(addresses.buckets.len(), MOST_ADDRESSES);
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
