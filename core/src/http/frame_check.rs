//! The bytes of a response, as they come: whether every reader of HTTP finds the same lines and chunks in them.
//!
//! Readers forgive different faults. One ends a line at LF and another only at CRLF; one takes `+2`, `0x2` or `2 ` for
//! the size of a chunk; one takes trailers for headers. A response that one of them reads as another id than the next
//! is refused. RFC 9112, sections 2.2 and 7.1
//!
//! | State | Bytes | Next state |
//! | --- | --- | --- |
//! | status line | a line | header |
//! | header | a line | header |
//! | header | an empty line | status line after 1xx, size if it is chunked, else rest |
//! | size | `1` to `ffffffff` | chunk |
//! | size | `0` | end |
//! | chunk | as many bytes | end of the chunk |
//! | end of the chunk | an empty line | size |
//! | end | an empty line | rest |
//! | rest | any | rest: Content-Length and the connection tell where it ends |

use alloc::vec::Vec;
use core::mem;

/// Reads the bytes of one response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameCheck {
    state: State,
    /// The begin of the current line.
    line: Vec<u8>,
    is_chunked: bool,
    /// Whether the head is of a response before the last one. RFC 9110, section 15.2
    is_interim: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    StatusLine,
    Header,
    Size,
    Chunk(usize),
    ChunkEnd,
    End,
    Rest,
}

impl Default for FrameCheck {
    fn default() -> FrameCheck {
        FrameCheck { state: State::StatusLine, line: Vec::new(), is_chunked: false, is_interim: false }
    }
}

impl FrameCheck {
    /// Reads the next bytes. Errors: what readers understand differently, for [`BodyEnd::Ambiguous`](super::BodyEnd).
    /// It shows no byte of them, which may be a secret.
    pub fn read(&mut self, mut bytes: &[u8]) -> Result<(), &'static str> {
        loop {
            match self.state {
                State::Rest => return Ok(()),
                State::Chunk(left) if left > bytes.len() => {
                    self.state = State::Chunk(left - bytes.len());
                    return Ok(());
                }
                State::Chunk(left) => {
                    self.state = State::ChunkEnd;
                    bytes = &bytes[left..];
                }
                _ => {
                    let mut parts = bytes.splitn(2, |&byte| byte == b'\n');
                    self.line.extend_from_slice(parts.next().unwrap_or_default());
                    let Some(rest) = parts.next() else { return Ok(()) };
                    bytes = rest;
                    let line = mem::take(&mut self.line);
                    self.state = self.after(&line)?;
                }
            }
        }
    }

    /// The state after a line, which is given without its LF.
    fn after(&mut self, line: &[u8]) -> Result<State, &'static str> {
        let line = line.strip_suffix(b"\r").ok_or("a line ends with LF alone")?;
        if line.contains(&b'\r') {
            return Err("a CR stands within a line");
        }
        match self.state {
            State::StatusLine if line.is_empty() => Err("an empty line stands before it"),
            State::StatusLine => {
                let status = line.get(9..12).unwrap_or_default();
                self.is_interim = status.starts_with(b"1") && status != b"101";
                self.is_chunked = false;
                Ok(State::Header)
            }
            State::Header if !line.is_empty() => {
                let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
                self.is_chunked |= name.eq_ignore_ascii_case(b"transfer-encoding");
                Ok(State::Header)
            }
            State::Header if self.is_interim => Ok(State::StatusLine),
            State::Header if self.is_chunked => Ok(State::Size),
            State::Size => match size(line).ok_or("the size of a chunk is not 1 to 8 hexadecimal digits")? {
                0 => Ok(State::End),
                size => Ok(State::Chunk(size)),
            },
            State::ChunkEnd if line.is_empty() => Ok(State::Size),
            State::ChunkEnd => Err("a chunk is longer than its size"),
            State::End if !line.is_empty() => Err("a trailer follows its last chunk"),
            State::Header | State::Chunk(_) | State::End | State::Rest => Ok(State::Rest),
        }
    }
}

/// The size of a chunk, if it is nothing but digits, and not so many that a reader of 32 bits cuts it.
fn size(line: &[u8]) -> Option<usize> {
    let is_plain = (1..=8).contains(&line.len()) && line.iter().all(u8::is_ascii_hexdigit);
    is_plain.then_some(line).and_then(|line| usize::from_str_radix(core::str::from_utf8(line).ok()?, 16).ok())
}
