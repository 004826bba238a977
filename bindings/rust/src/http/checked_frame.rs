//! Detects responses whose end is in doubt: they continue after it, or readers of HTTP find it at different places. A
//! length that is too small would cut an id short, and two readers would take two ids from one response.

use super::deadline;
use leafid_core::http::FrameCheck;
use std::fmt;
use ureq::Error;
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport};

/// A connection, with its TLS if it has one, that looks at the bytes of responses, and for unread ones at its end.
pub(crate) struct CheckedFrame<T: Transport> {
    inner: T,
    /// `None` below the TLS of a server that a proxy connects to.
    frame: Option<FrameCheck>,
}

/// Ends the set-up of a connection: the earlier parts of the chain have created it.
#[derive(Debug)]
pub(crate) struct Connected {
    /// Whether a proxy connects to the server. Then the connection to the proxy is created first, by the same chain.
    pub(super) has_tunnel: bool,
}

impl<In: Transport> Connector<In> for Connected {
    type Out = CheckedFrame<In>;

    fn connect(
        &self,
        details: &ConnectionDetails,
        chained: Option<In>,
    ) -> Result<Option<CheckedFrame<In>>, Error> {
        deadline::set_connected();
        let is_tunnel = self.has_tunnel && details.config.proxy().is_none();
        let frame = (!is_tunnel).then(FrameCheck::default);
        Ok(chained.map(|inner| CheckedFrame { inner, frame }))
    }
}

impl<T: Transport> Transport for CheckedFrame<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.frame = self.frame.take().map(|_| FrameCheck::default());
        self.inner.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let Some(frame) = &mut self.frame else { return self.inner.await_input(timeout) };
        // Whatever follows, the response is refused.
        if let Some(what) = deadline::ambiguity() {
            return Err(Error::Other(what.into()));
        }
        let known = self.inner.buffers().input().len();
        let has_more = self.inner.await_input(timeout)?;
        let input = self.inner.buffers().input();
        if let Err(what) = frame.read(input.get(known..).unwrap_or_default()) {
            deadline::set_ambiguity(what);
        }
        Ok(has_more)
    }

    fn is_open(&mut self) -> bool {
        self.inner.is_open()
    }

    fn is_tls(&self) -> bool {
        self.inner.is_tls()
    }
}

/// When a response was read to its end, ureq closes a connection that has bytes left.
impl<T: Transport> Drop for CheckedFrame<T> {
    fn drop(&mut self) {
        if !self.inner.buffers().input().is_empty() {
            deadline::has_extra_bytes();
        }
    }
}

impl<T: Transport> fmt::Debug for CheckedFrame<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CheckedFrame")
    }
}
