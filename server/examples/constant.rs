//! What bench/server compares leafid-server with: an axum handler that returns a constant of the length of an id. It
//! prints its port.

use axum::Router;
use axum::routing::get;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let service = Router::new().route("/constant", get(|| async { "1859237461028372480" }));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    axum::serve(listener, service).await
}
