//! Detects responses that continue after their end: a length that is too small would cut an id short.

use super::deadline;
use std::fmt;
use ureq::Error;
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport};

/// A connection, with its TLS if it has one, that records unread bytes at its end.
pub(crate) struct EndChecked<T: Transport>(T);

/// Ends the set-up of a connection: the earlier parts of the chain have created it.
#[derive(Debug)]
pub(crate) struct Connected;

impl<In: Transport> Connector<In> for Connected {
    type Out = EndChecked<In>;

    fn connect(&self, _: &ConnectionDetails, chained: Option<In>) -> Result<Option<EndChecked<In>>, Error> {
        deadline::set_connected();
        Ok(chained.map(EndChecked))
    }
}

impl<T: Transport> Transport for EndChecked<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.0.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.0.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.0.await_input(timeout)
    }

    fn is_open(&mut self) -> bool {
        self.0.is_open()
    }

    fn is_tls(&self) -> bool {
        self.0.is_tls()
    }
}

/// When a response was read to its end, ureq closes a connection that has bytes left.
impl<T: Transport> Drop for EndChecked<T> {
    fn drop(&mut self) {
        if !self.0.buffers().input().is_empty() {
            deadline::has_extra_bytes();
        }
    }
}

impl<T: Transport> fmt::Debug for EndChecked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EndChecked")
    }
}
