//! What a lease server is asked, and how it answers.

use serde_json::Value;
use std::io::BufRead;

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// `claim`, `renew` or `release`.
    pub(crate) call: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

/// How a request is answered.
pub(crate) enum Reaction {
    /// Rightly.
    Right,
    Say(u16, String),
    /// As this kind of call was answered for the first time: what collapses requests or keeps answers does so.
    Again,
    /// It is done, and the connection closed without an answer.
    Lost,
    /// Not at all, until the other side closes or this is over.
    Hang,
}

/// The next request of a connection.
pub(crate) fn read(stream: &mut impl BufRead) -> Option<Seen> {
    let line = |stream: &mut dyn BufRead| {
        let mut line = String::new();
        stream.read_line(&mut line).ok().filter(|&length| length > 0)?;
        Some(line.trim_end().to_owned())
    };
    let first = line(stream)?;
    let path = first.strip_prefix("POST ")?.split(' ').next()?.to_owned();
    let mut headers = Vec::new();
    loop {
        let line = line(stream)?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    let call = path.rsplit_once("/api/worker/")?.1.to_owned();
    Some(Seen { call, headers, body: serde_json::from_slice(&body).ok()? })
}
