//! The real clock, disk and random numbers.

use crate::os::clock::Clock;
use crate::os::env::{Env, FILE_BYTES, Random};
use leafid_core::options::built_ms;
use std::fs::File;
use std::io::{self, Read};

#[cfg(test)]
mod dated;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

impl Env {
    pub(crate) fn system() -> Env {
        Env {
            clock: Clock::System,
            disk: Box::new(SystemDisk),
            random: Box::new(SystemRandom),
            built_ms: const { built_ms(env!("LEAFID_BUILT_DAY")) },
        }
    }
}

struct SystemRandom;

impl Random for SystemRandom {
    fn number(&self) -> io::Result<u128> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(u128::from_ne_bytes(bytes))
    }
}

fn read_bounded(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(FILE_BYTES + 1);
    file.take(FILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn locks_nothing() -> io::Error {
    let message = "its lock was granted twice: the locks of this file system do not work";
    io::Error::new(io::ErrorKind::Unsupported, message)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn no_random_number_is_like_another() {
        let numbers = [(); 4].map(|()| SystemRandom.number().unwrap());
        assert!(numbers.iter().all(|one| numbers.iter().filter(|other| one == *other).count() == 1));
    }
}
