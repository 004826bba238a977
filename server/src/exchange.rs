//! A request to another server. It has a connection of its own: no other request gets an answer that comes too late.

use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Request, Response};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::error::Error;
use tokio::io::{AsyncRead, AsyncWrite};

/// `most`: the largest body of an answer.
pub(crate) async fn exchange<S>(
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
