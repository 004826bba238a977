//! The key of public ids, and the cipher that it is for.

use crate::{Code, Error, Result};
use aes::cipher::consts::{U1, U16, U33};
use aes::cipher::{
    Block, BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, InOut, Key,
    KeyInit, KeySizeUser, ParBlocksSizeUser,
};
use aes::{Aes128Enc, Aes192Enc, Aes256Enc};
use alloc::format;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::fmt;
use fpe::ff1::{FF1, NumeralString, Operations};
use zeroize::Zeroizing;

/// Of an id as numerals of radix 2, and of its halves as FF1 splits it.
const BITS: u32 = 63;
const HIGH_BITS: u32 = 31;
const LOW_BITS: u32 = 32;

/// FF1 wants keys of one length: 32 bytes, and one that says how many of them are the key. `KeySize` says it, too.
const PADDED: usize = 33;

/// A secret key of AES: 16, 24 or 32 bytes. Nothing prints it, and its memory is overwritten when it is dropped.
///
/// It is padded for FF1, and on the heap, at its full capacity from the start: a move or a growth would leave a copy that
/// nothing overwrites.
pub struct PublicIdKey(Zeroizing<Vec<u8>>);

impl PublicIdKey {
    /// The key of these bytes. Errors: `invalid_argument` for another number of them.
    pub fn new(bytes: &[u8]) -> Result<PublicIdKey> {
        if !matches!(bytes.len(), 16 | 24 | 32) {
            return Err(Error::invalid("key", format!("{} bytes long", bytes.len()), "16, 24 or 32 bytes"));
        }
        let mut padded = Zeroizing::new(Vec::with_capacity(PADDED));
        padded.extend_from_slice(bytes);
        padded.resize(PADDED - 1, 0);
        padded.push(bytes.len() as u8);
        Ok(PublicIdKey(padded))
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
        self.ff1()?.encrypt(tweak, &Numerals(id)).map(|Numerals(bits)| bits).map_err(internal)
    }

    /// FF1.Decrypt, otherwise as `encrypt`.
    pub(crate) fn decrypt(&self, tweak: &[u8], id: u64) -> Result<u64> {
        self.ff1()?.decrypt(tweak, &Numerals(id)).map(|Numerals(bits)| bits).map_err(internal)
    }

    /// FF1 with a key schedule of its own, for one call. FF1 clones its cipher in each round: with one schedule for all
    /// calls a clone would write a count that all threads of a key share, and waiting for that takes longer than making
    /// the schedule.
    fn ff1(&self) -> Result<FF1<Aes>> {
        FF1::new(&self.0, 2).map_err(internal)
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

/// AES of each length of keys as one cipher, a block at a time: so FF1 is compiled once, and not for each length and for
/// each way in which processors have AES. A clone counts a reference: one of the schedule
/// itself would copy the round keys, and overwrite the copy, in each round.
#[derive(Clone)]
struct Aes(Rc<KeySchedule>);

enum KeySchedule {
    Aes128(Aes128Enc),
    Aes192(Aes192Enc),
    Aes256(Aes256Enc),
}

impl KeySizeUser for Aes {
    type KeySize = U33;
}

impl KeyInit for Aes {
    fn new(padded: &Key<Aes>) -> Aes {
        Aes(Rc::new(match padded[PADDED - 1] {
            16 => KeySchedule::Aes128(Aes128Enc::new(padded.split_ref().0)),
            24 => KeySchedule::Aes192(Aes192Enc::new(padded.split_ref().0)),
            _ => KeySchedule::Aes256(Aes256Enc::new(padded.split_ref().0)),
        }))
    }
}

impl BlockSizeUser for Aes {
    type BlockSize = U16;
}

impl ParBlocksSizeUser for Aes {
    type ParBlocksSize = U1;
}

impl BlockCipherEncrypt for Aes {
    fn encrypt_with_backend(&self, backend: impl BlockCipherEncClosure<BlockSize = U16>) {
        backend.call(self);
    }
}

impl BlockCipherEncBackend for Aes {
    fn encrypt_block(&self, block: InOut<'_, '_, Block<Aes>>) {
        match &*self.0 {
            KeySchedule::Aes128(cipher) => cipher.encrypt_block_inout(block),
            KeySchedule::Aes192(cipher) => cipher.encrypt_block_inout(block),
            KeySchedule::Aes256(cipher) => cipher.encrypt_block_inout(block),
        }
    }
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
