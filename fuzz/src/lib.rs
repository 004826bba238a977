//! What the fuzz targets share: an input read bit by bit, files made of it, and what holds for every error.

pub mod c;

use leafid::{Code, Error};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Bytes of a slot, and of a file of two.
pub const SLOT: usize = 4096;

/// The bytes of one run, read from the front; at their end all is 0.
pub struct Input<'a>(&'a [u8]);

/// Numbers near which mistakes are made.
const ODD: [i64; 32] = [
    -1,
    i64::MIN,
    i64::MIN + 1,
    i64::MAX,
    i64::MAX - 1,
    1 << 12,
    (1 << 12) - 1,
    (1 << 16) - 1,
    1 << 16,
    1_000_000,
    1_000_001,
    1 << 24,
    (1 << 24) + 1,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    3_600_000,
    3_600_001,
    (1 << 53) - 1,
    1 << 53,
    (1 << 53) + 1,
    1 << 62,
    -(1 << 31),
    1_288_834_974_657,
    1_600_000_000_000,
    1_900_000_000_000,
    3_487_858_230_209,
    100,
    1_000,
    500,
    4_096,
];

impl<'a> Input<'a> {
    pub fn new(bytes: &'a [u8]) -> Input<'a> {
        Input(bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// 0 to `most`.
    pub fn below(&mut self, most: usize) -> usize {
        usize::from(self.byte()) % (most + 1)
    }

    /// Any number: small ones in one byte, odd ones too, others in nine.
    pub fn number(&mut self) -> i64 {
        match self.byte() {
            small @ 0..=199 => small.into(),
            odd @ 200..=231 => ODD[usize::from(odd) - 200],
            _ => i64::from_le_bytes(std::array::from_fn(|_| self.byte())),
        }
    }

    /// This many bytes as the first one says, as text.
    pub fn text(&mut self) -> String {
        let length = usize::from(self.byte()).min(self.0.len());
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        String::from_utf8_lossy(text).into_owned()
    }

    /// What comes before the next line feed, as text.
    pub fn line(&mut self) -> String {
        let end = self.0.iter().position(|&byte| byte == b'\n').unwrap_or(self.0.len());
        let line = String::from_utf8_lossy(&self.0[..end]).into_owned();
        self.0 = self.0.get(end + 1..).unwrap_or_default();
        line
    }

    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// What is left, where the byte 1 stands for very many: what is long is found in few bytes.
    pub fn long(&mut self) -> Vec<u8> {
        let each = |&byte: &u8| if byte == 1 { vec![b'7'; 9_000] } else { vec![byte] };
        self.rest().iter().take(2_000).flat_map(each).take(100_000).collect()
    }
}

/// A directory of this process's, in memory where the machine has that; old ones go when the system restarts.
pub fn directory(name: &str) -> PathBuf {
    static BASE: OnceLock<PathBuf> = OnceLock::new();
    let base = BASE.get_or_init(|| match std::env::var_os("LEAFID_FUZZ_DIR") {
        Some(given) => given.into(),
        None => {
            let memory = Path::new("/dev/shm");
            let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
            base.join(format!("leafid-fuzz-{}", std::process::id()))
        }
    });
    let directory = base.join(name);
    std::fs::create_dir_all(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    directory
}

/// A slot of this JSON; `sealed`: with the checksum that belongs to it.
pub fn slot(json: &str, sealed: bool) -> Vec<u8> {
    let mut text = json.to_owned();
    if sealed {
        text.pop();
        let sum = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(text.as_bytes());
        text.push_str(&format!(",\"crc32\":\"{sum:08x}\"}}"));
    }
    let mut bytes = text.into_bytes();
    bytes.resize(SLOT - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// The JSON of a slot that leafid wrote.
pub fn json(slot: &[u8]) -> serde_json::Value {
    serde_json::from_slice(slot).expect("what leafid wrote is JSON")
}

/// A file of two slots: the first byte says which of them are sealed, and how the file is damaged then; a line each.
pub fn file(input: &mut Input<'_>, known: &dyn Fn(&str) -> String) -> Vec<u8> {
    let (how, at) = (input.byte(), input.number());
    let (first, second) = (known(&input.line()), known(&input.line()));
    let second = if second.is_empty() { first.clone() } else { second };
    let mut bytes = slot(&first, how & 1 == 0);
    bytes.extend(slot(&second, how & 2 == 0));
    let at = at.unsigned_abs() as usize % bytes.len();
    match how >> 2 & 7 {
        1 => bytes[at] ^= 1 << (how >> 5),
        2 => bytes.truncate(at),
        // A write that was torn in the first slot, or in the second.
        3 => bytes[at % SLOT..SLOT].fill(0),
        4 => bytes[SLOT + at % SLOT..].fill(b'x'),
        5 => bytes.push(b'\n'),
        _ => {}
    }
    bytes
}

/// What holds for every error: it has a reason, which is short and one line, and it is no defect.
#[track_caller]
pub fn check(error: &Error) {
    let message = error.message();
    assert_ne!(error.code(), Code::Internal, "{message}");
    assert!(!message.is_empty());
    assert!(message.len() <= 8_192, "{} bytes: {message:.300}", message.len());
    assert!(!message.contains(char::is_control), "{message:?}");
}
