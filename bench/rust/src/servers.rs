//! Servers of ranges on this host's loopback, for sources of URLs.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Starts a server which gives ranges of this counter, for any tag, as long as the process lives; answers its URL.
pub fn start(next: &Arc<AtomicI64>) -> String {
    let (listener, url) = listening();
    let next = Arc::clone(next);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let next = Arc::clone(&next);
            // A client that goes away is no failure.
            std::thread::spawn(move || serve(stream, &next));
        }
    });
    url
}

/// The URL of a server that is gone.
pub fn refusing() -> String {
    listening().1
}

fn listening() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("its address"));
    (listener, url)
}

/// One request after another: `POST /api/segment/range/{tag}?step=…&after=…&nonce=…`, without a body.
fn serve(stream: TcpStream, next: &AtomicI64) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(&stream);
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if reader.read_until(b'\n', &mut head)? == 0 {
                return Ok(());
            }
        }
        let head = String::from_utf8_lossy(&head);
        let target = head.split(' ').nth(1).unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or_default();
        let value = |name: &str| {
            query.split('&').find_map(|part| part.strip_prefix(name)?.strip_prefix('=')).unwrap_or_default()
        };
        let (tag, step) =
            (path.rsplit('/').next().unwrap_or_default(), value("step").parse().unwrap_or(1_000));
        let (start, nonce) = (next.fetch_add(step, Relaxed), value("nonce"));
        let end = start + step;
        let body = format!(
            r#"{{"tag":"{tag}","start":"{start}","end":"{end}","stride":1,"step":{step},"nonce":"{nonce}"}}"#
        );
        let length = body.len();
        // In one piece: a client would else wait for the second packet.
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        (&stream).write_all(answer.as_bytes())?;
    }
}
