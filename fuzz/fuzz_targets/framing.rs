//! Answers as bytes on a connection: an id is used only if all of the bytes say that it is the whole answer.
#![no_main]

use leafid::fuzzing::ask;
use leafid_core::wire::leaf::LeafMode;
use leafid_fuzz::{Input, check};
use libfuzzer_sys::fuzz_target;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock};

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let leaf = match input.byte() % 3 {
        0 => Some(LeafMode::Segment { block_size: 1 }),
        1 => Some(LeafMode::Snowflake),
        _ => None,
    };
    let answer = input.long();
    let (url, server) = server();
    server.lock().expect("the server").send(answer.clone()).expect("the server");
    match ask(leaf, url) {
        Ok(segment) => {
            let body = body(&answer).unwrap_or_else(|why| panic!("{why}: {segment:?}"));
            let text = std::str::from_utf8(&body).expect("digits");
            match leaf {
                None => assert_eq!(text.split(',').count(), 5, "{text}"),
                Some(_) => assert_eq!(text, segment.start().to_string()),
            }
        }
        Err(error) => check(&error),
    }
});

/// A server that gives each connection the next of these answers, in one piece, and closes it.
fn server() -> (&'static str, &'static Mutex<Sender<Vec<u8>>>) {
    static SERVER: OnceLock<(String, Mutex<Sender<Vec<u8>>>)> = OnceLock::new();
    let (url, answers) = SERVER.get_or_init(|| {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (sender, answers) = channel::<Vec<u8>>();
        std::thread::spawn(move || {
            for answer in answers {
                let (mut connection, _) = listener.accept().expect("a connection");
                let mut request = Vec::new();
                // The head, and a body of 19 bytes or none: all of it, or closing would reset the connection.
                while !whole(&request) {
                    let mut bytes = [0; 4_096];
                    match connection.read(&mut bytes) {
                        Ok(0) | Err(_) => break,
                        Ok(read) => request.extend_from_slice(&bytes[..read]),
                    }
                }
                let _ = connection.write_all(&answer);
            }
        });
        (url, Mutex::new(sender))
    });
    (url, answers)
}

fn whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.to_ascii_lowercase();
    let length = length.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    body.len() >= length.unwrap_or(0)
}

/// The body of the only right answer among all that these bytes could be. Errors: why they are none.
fn body(mut bytes: &[u8]) -> Result<Vec<u8>, String> {
    loop {
        let (status, headers, rest) = head(bytes)?;
        bytes = rest;
        // An answer that is not the last: RFC 9110, section 15.2
        if (100..200).contains(&status) && status != 101 {
            continue;
        }
        if status != 200 {
            return Err(format!("the status is {status}"));
        }
        let all = |name: &str| -> Vec<&str> {
            headers.iter().filter(|(known, _)| known == name).map(|(_, value)| &value[..]).collect()
        };
        if !all("age").is_empty() {
            return Err("it is a cache's".into());
        }
        return match (&all("content-length")[..], &all("transfer-encoding")[..]) {
            ([length], []) if length.parse() == Ok(bytes.len()) => Ok(bytes.to_vec()),
            ([length], []) => Err(format!("{} bytes of {length}", bytes.len())),
            ([], [chunked]) if chunked.eq_ignore_ascii_case("chunked") => chunks(bytes),
            _ => Err("its end is said in no way, or in two".into()),
        };
    }
}

type Head<'a> = (u16, Vec<(String, String)>, &'a [u8]);

fn head(mut bytes: &[u8]) -> Result<Head<'_>, String> {
    let status_line = line(&mut bytes)?;
    let code = status_line.get(9..12).and_then(|code| code.parse().ok());
    let status =
        code.filter(|_| status_line.starts_with("HTTP/1.")).ok_or(format!("no HTTP: {status_line:?}"))?;
    let mut headers = Vec::new();
    loop {
        let line = line(&mut bytes)?;
        if line.is_empty() {
            return Ok((status, headers, bytes));
        }
        let (name, value) = line.split_once(':').ok_or(format!("no header: {line:?}"))?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

/// A line in which all readers see one line.
fn line(bytes: &mut &[u8]) -> Result<String, String> {
    let end = bytes.iter().position(|&byte| byte == b'\n').ok_or("it ends within a line")?;
    let line = String::from_utf8_lossy(&bytes[..end]);
    *bytes = &bytes[end + 1..];
    match line.strip_suffix('\r') {
        Some(line) if !line.contains('\r') => Ok(line.to_owned()),
        _ => Err(format!("a CR or a LF alone: {line:?}")),
    }
}

fn chunks(mut bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    loop {
        let said = line(&mut bytes)?;
        let is_plain = said.bytes().all(|byte| byte.is_ascii_hexdigit());
        let size = u32::from_str_radix(&said, 16).ok().filter(|_| is_plain);
        let size = size.ok_or(format!("no chunk: {said:?}"))? as usize;
        if size == 0 {
            break;
        }
        let chunk = bytes.get(..size).ok_or("it ends within a chunk")?;
        body.extend_from_slice(chunk);
        bytes = &bytes[size..];
        if !line(&mut bytes)?.is_empty() {
            return Err("a chunk goes on".into());
        }
    }
    // The body has ended, even if the connection does here.
    match bytes {
        b"" | b"\r" | b"\r\n" => Ok(body),
        _ => Err("something follows".into()),
    }
}
