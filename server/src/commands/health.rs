//! Whether a server of these settings lives: for images in which no other program could ask.

use crate::options::Options;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_secs(4);
const REQUEST: &[u8] = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
const WANTED: &[u8] = b"HTTP/1.1 200 ";

/// Asks /health at the address of the options. The error says why this is not well.
pub(super) async fn health(options: &Options) -> Result<(), String> {
    if options.tls_cert.is_some() {
        return Err(
            "health speaks no TLS, and --tls-cert is set: ask /health with another program".to_owned()
        );
    }
    let address = reachable(options.listen);
    let mut answer = [0; WANTED.len()];
    let asked = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(REQUEST).await?;
        stream.read_exact(&mut answer).await
    };
    match timeout(LIMIT, asked).await {
        Ok(Ok(_)) if answer == WANTED => Ok(()),
        Ok(Ok(_)) => Err(format!("{address}: the answer to /health is not 200")),
        Ok(Err(error)) => Err(format!("{address}: {error}")),
        Err(_) => Err(format!("{address}: no answer within {} s", LIMIT.as_secs())),
    }
}

/// A server that listens on all addresses is reached on loopback.
fn reachable(mut listen: SocketAddr) -> SocketAddr {
    if listen.ip().is_unspecified() {
        listen.set_ip(match listen.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    listen
}
