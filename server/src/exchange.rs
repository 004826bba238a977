//! A request to another server. It has a connection of its own: no other request gets an answer that comes too late.

use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Request, Response};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::error::Error;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::WantsClientCert;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ConfigBuilder, RootCertStore};

/// The settings of a client that trusts these authorities, but for its own certificate.
pub(crate) fn trusting(
    roots: RootCertStore,
) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, tokio_rustls::rustls::Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    Ok(builder.with_safe_default_protocol_versions()?.with_root_certificates(roots))
}

/// `tls`: with the name that the server has to prove. `most`: the largest body of an answer.
pub(crate) async fn exchange(
    address: &str,
    tls: Option<(&TlsConnector, ServerName<'static>)>,
    request: Request<Body>,
    most: usize,
) -> Result<Response<Bytes>, Box<dyn Error + Send + Sync>> {
    let stream = TcpStream::connect(address).await?;
    match tls {
        None => exchanged(stream, request, most).await,
        Some((tls, name)) => {
            let stream = tls.connect(name, stream).await.map_err(|error| format!("TLS: {error}"))?;
            exchanged(stream, request, most).await
        }
    }
}

async fn exchanged<S>(
    stream: S,
    request: Request<Body>,
    most: usize,
) -> Result<Response<Bytes>, Box<dyn Error + Send + Sync>>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let answer = async {
        let (head, body) = sender.send_request(request).await?.into_parts();
        Ok(Response::from_parts(head, to_bytes(Body::new(body), most).await?))
    };
    // The connection works only while it is polled. It ends with this function.
    let work = async {
        let _ = connection.await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        answer = answer => answer,
        () = work => Err("the connection ended".into()),
    }
}
