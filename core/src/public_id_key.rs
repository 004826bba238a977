//! The key of public ids, and the cipher that it is for.

use crate::{Code, Error, Result};
use aes::{Aes128, Aes192, Aes256};
use alloc::format;
use alloc::vec::Vec;
use core::fmt;
use fpe::ff1::{FF1, NumeralString, Operations};
use zeroize::Zeroizing;

/// Of an id as numerals of radix 2, and of its halves as FF1 splits it.
const BITS: u32 = 63;
const HIGH_BITS: u32 = 31;
const LOW_BITS: u32 = 32;

/// A secret key of AES: 16, 24 or 32 bytes. Nothing prints it, and its memory is overwritten when it is dropped.
pub struct PublicIdKey(Cipher);

enum Cipher {
    Aes128(FF1<Aes128>),
    Aes192(FF1<Aes192>),
    Aes256(FF1<Aes256>),
}

impl PublicIdKey {
    /// The key of these bytes. Errors: `invalid_argument` for another number of them.
    pub fn new(bytes: &[u8]) -> Result<PublicIdKey> {
        let cipher = match bytes.len() {
            16 => FF1::new(bytes, 2).map(Cipher::Aes128),
            24 => FF1::new(bytes, 2).map(Cipher::Aes192),
            32 => FF1::new(bytes, 2).map(Cipher::Aes256),
            length => {
                return Err(Error::invalid("key", format!("{length} bytes long"), "16, 24 or 32 bytes"));
            }
        };
        cipher.map(PublicIdKey).map_err(internal)
    }

    /// The key of hexadecimal digits, as `openssl rand -hex 16` writes them. White space around them is ignored.
    ///
    /// Errors: `invalid_argument` for anything but 32, 48 or 64 digits.
    pub fn from_hex(digits: &str) -> Result<PublicIdKey> {
        let digits = digits.trim_ascii().as_bytes();
        let digit = |at: usize| char::from(digits[at]).to_digit(16);
        let byte = |at: usize| Some((digit(2 * at)? << 4 | digit(2 * at + 1)?) as u8);
        let mut bytes = Zeroizing::new(Vec::with_capacity(32));
        if matches!(digits.len(), 32 | 48 | 64) {
            bytes.extend((0..digits.len() / 2).map_while(byte));
        }
        if bytes.is_empty() || bytes.len() * 2 != digits.len() {
            return Err(Error::invalid("key", "another text", "32, 48 or 64 hexadecimal digits"));
        }
        PublicIdKey::new(&bytes)
    }

    /// NIST SP 800-38G, FF1.Encrypt, of an id as 63 numerals of radix 2, the highest first.
    pub(crate) fn encrypt(&self, tweak: &[u8], id: u64) -> Result<u64> {
        let id = Numerals(id);
        let encrypted = match &self.0 {
            Cipher::Aes128(cipher) => cipher.encrypt(tweak, &id),
            Cipher::Aes192(cipher) => cipher.encrypt(tweak, &id),
            Cipher::Aes256(cipher) => cipher.encrypt(tweak, &id),
        };
        encrypted.map(|Numerals(bits)| bits).map_err(internal)
    }

    /// FF1.Decrypt, otherwise as `encrypt`.
    pub(crate) fn decrypt(&self, tweak: &[u8], id: u64) -> Result<u64> {
        let id = Numerals(id);
        let decrypted = match &self.0 {
            Cipher::Aes128(cipher) => cipher.decrypt(tweak, &id),
            Cipher::Aes192(cipher) => cipher.decrypt(tweak, &id),
            Cipher::Aes256(cipher) => cipher.decrypt(tweak, &id),
        };
        decrypted.map(|Numerals(bits)| bits).map_err(internal)
    }
}

impl fmt::Debug for PublicIdKey {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("PublicIdKey")
    }
}

/// Numbers below 2^63 and radix 2 are what the library accepts.
#[cold]
fn internal<E>(_: E) -> Error {
    Error::new(Code::Internal, "FF1 refused 63 numerals of radix 2; report it")
}

/// A number as 63 numerals of radix 2.
struct Numerals(u64);

/// One of its halves.
struct Half {
    value: u64,
    bits: u32,
}

impl NumeralString for Numerals {
    type Ops = Half;

    fn is_valid(&self, radix: u32) -> bool {
        radix == 2 && self.0 >> BITS == 0
    }

    fn numeral_count(&self) -> usize {
        BITS as usize
    }

    fn split(&self) -> (Half, Half) {
        let high = Half { value: self.0 >> LOW_BITS, bits: HIGH_BITS };
        (high, Half { value: u64::from(self.0 as u32), bits: LOW_BITS })
    }

    fn concat(high: Half, low: Half) -> Numerals {
        Numerals(high.value << LOW_BITS | low.value)
    }
}

impl Half {
    /// `value` modulo 2^`bits`.
    fn of(value: u64, bits: usize) -> Half {
        Half { value: value & ((1 << bits) - 1), bits: bits as u32 }
    }
}

impl Operations for Half {
    type Bytes = [u8; 4];

    fn numeral_count(&self) -> usize {
        self.bits as usize
    }

    /// FF1 asks for the number of bytes that the longer half needs: 4.
    fn to_be_bytes(&self, _radix: u32, _bytes: usize) -> [u8; 4] {
        (self.value as u32).to_be_bytes()
    }

    fn add_mod_exp(self, other: impl Iterator<Item = u8>, _radix: u32, bits: usize) -> Half {
        Half::of(self.value.wrapping_add(number(other)), bits)
    }

    fn sub_mod_exp(self, other: impl Iterator<Item = u8>, _radix: u32, bits: usize) -> Half {
        Half::of(self.value.wrapping_sub(number(other)), bits)
    }
}

/// The number of these bytes modulo 2^64, of which the half's modulus is a divisor.
fn number(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0, |number, byte| number << 8 | u64::from(byte))
}
