//! Requests for http:// servers through a proxy: with the whole URL in the request line. Proxies such as Squid refuse a
//! CONNECT to other ports than those of TLS.
//!
//! ureq knows only CONNECT. So it asks the proxy as if that were the server, and here the request line gets the server's
//! scheme, host and port. RFC 9112, section 3.2.2

use super::deadline;
use std::fmt;
use ureq::Error;
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport};

/// Creates the connections of one server.
#[derive(Debug)]
pub(crate) struct Forward {
    /// `http://ids.example:8080`; `None` if requests go to the server itself.
    pub(super) origin: Option<String>,
}

impl<In: Transport> Connector<In> for Forward {
    type Out = Forwarded<In>;

    fn connect(&self, _: &ConnectionDetails, chained: Option<In>) -> Result<Option<Forwarded<In>>, Error> {
        Ok(chained.map(|inner| Forwarded { inner, origin: self.origin.clone() }))
    }
}

/// A connection, with its TLS if it has one.
pub(crate) struct Forwarded<T: Transport> {
    inner: T,
    origin: Option<String>,
}

impl<T: Transport> Transport for Forwarded<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        let begins = deadline::begins_request();
        let Some(origin) = self.origin.as_deref().filter(|_| begins) else {
            return self.inner.transmit_output(amount, timeout);
        };
        let output = self.inner.buffers().output();
        let room = output.len();
        let (method, rest) = split_at_target(&output[..amount]);
        // It may no longer fit into the buffer at once.
        for part in [method, origin.as_bytes(), rest].concat().chunks(room) {
            self.inner.buffers().output()[..part.len()].copy_from_slice(part);
            self.inner.transmit_output(part.len(), timeout)?;
        }
        Ok(())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.inner.await_input(timeout)
    }

    fn is_open(&mut self) -> bool {
        self.inner.is_open()
    }

    fn is_tls(&self) -> bool {
        self.inner.is_tls()
    }
}

/// The method with its blank, and what follows. A request line is never cut in two.
fn split_at_target(request: &[u8]) -> (&[u8], &[u8]) {
    let target = request.iter().position(|&byte| byte == b' ').map_or(0, |blank| blank + 1);
    request.split_at(target)
}

impl<T: Transport> fmt::Debug for Forwarded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Forwarded")
    }
}
