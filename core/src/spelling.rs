//! How messages write the names of options and arguments: each language has its own habit.

use crate::atomic::statistics::{AtomicU8, Ordering::Relaxed};
use core::fmt::{self, Write};

static SPELLING: AtomicU8 = AtomicU8::new(Spelling::Snake as u8);

/// How the names of options and arguments are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spelling {
    /// `timeout_ms`, as in Python, C and Rust.
    Snake,
    /// `timeoutMs`, as in JavaScript and Java.
    Camel,
    /// `--timeout-ms`. A name of one word stays as it is, because it may be an argument.
    CommandLine,
}

impl Spelling {
    /// Has all messages of this process written in this way from now on. A binding calls it before all else.
    pub fn set(self) {
        SPELLING.store(self as u8, Relaxed);
    }

    fn current() -> Spelling {
        match SPELLING.load(Relaxed) {
            number if number == Spelling::Camel as u8 => Spelling::Camel,
            number if number == Spelling::CommandLine as u8 => Spelling::CommandLine,
            _ => Spelling::Snake,
        }
    }
}

/// The name of an option or an argument, given in snake case, as messages show it. What is no such name, as that of an
/// environment variable, is shown as it is.
#[derive(Clone, Copy, Debug)]
pub struct Named<'n>(pub &'n str);

impl fmt::Display for Named<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let in_name = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        let is_name = self.0.bytes().all(in_name) && self.0.contains('_');
        let spelling = Spelling::current();
        if !is_name || spelling == Spelling::Snake {
            return to.write_str(self.0);
        }
        if spelling == Spelling::CommandLine {
            to.write_str("--")?;
        }
        let mut begins = false;
        for byte in self.0.bytes() {
            match (byte, spelling) {
                (b'_', Spelling::Camel) => begins = true,
                (b'_', _) => to.write_char('-')?,
                _ => {
                    to.write_char(char::from(if begins { byte.to_ascii_uppercase() } else { byte }))?;
                    begins = false;
                }
            }
        }
        Ok(())
    }
}

macro_rules! names {
    ($($name:ident $text:literal)*) => { $(pub(crate) const $name: Named<'static> = Named($text);)* };
}

/// The names that stand in messages.
#[cfg_attr(not(all(feature = "format", feature = "options", feature = "wire")), allow(dead_code))]
pub(crate) mod name {
    use super::Named;

    names! {
        BLOCK_SIZE "block_size"
        CA_FILE "ca_file"
        CONNECT_TIMEOUT_MS "connect_timeout_ms"
        EPOCH_MS "epoch_ms"
        EXCLUSIVE_RANGE "exclusive_range"
        FROM_MS "from_ms"
        MAX_BACKWARDS_MS "max_backwards_ms"
        NO_RECORD_WAIT_MS "no_record_wait_ms"
        ON_CLOCK_BACKWARDS "on_clock_backwards"
        PEER_TIMES "peer_times"
        PERSIST "persist"
        REQUEST_TIMEOUT_MS "request_timeout_ms"
        SHARED_FS "shared_fs"
        START_AFTER "start_after"
        STATE_DIR "state_dir"
        TICK_MS "tick_ms"
        TIMEOUT_MS "timeout_ms"
    }
}
