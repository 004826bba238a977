//! Public ids are what tests/vectors/public_ids.json says, and what the cipher's own library makes of 63 numerals.

use crate::common::{Random, entries, number, public_id_vectors, text};
use aes::{Aes128, Aes192, Aes256};
use fpe::ff1::{FF1, NumeralString, Operations};
use leafid_core::{Code, Error, PublicIdKey, PublicIds, TextForm};
use serde_json::Value;

const FORMS: [TextForm; 2] = [TextForm::Base32, TextForm::Base62];

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
}

fn key(entry: &Value) -> PublicIdKey {
    PublicIdKey::new(&bytes(text(entry, "key"))).unwrap()
}

fn version(entry: &Value) -> u32 {
    entry["version"].as_u64().unwrap() as u32
}

fn of_both_keys(vectors: &Value) -> PublicIds {
    let keys = entries(&vectors["rotation"], "keys");
    let mut ids = PublicIds::new(key(&keys[0]), version(&keys[0])).unwrap();
    ids.add_key(key(&keys[1]), version(&keys[1])).unwrap();
    ids
}

#[track_caller]
fn says(error: &Error, entry: &Value) {
    assert_eq!((error.code(), error.message()), (Code::InvalidArgument, text(entry, "message")), "{entry}");
}

/// Numerals of any radix, the highest first: a text, or a half of one.
struct Numerals(Vec<u16>);

impl Numerals {
    fn of(mut value: u128, radix: u32, count: usize) -> Numerals {
        let mut numerals = vec![0; count];
        for numeral in numerals.iter_mut().rev() {
            *numeral = (value % u128::from(radix)) as u16;
            value /= u128::from(radix);
        }
        Numerals(numerals)
    }

    fn value(&self, radix: u32) -> u128 {
        self.0.iter().fold(0, |value, &numeral| value * u128::from(radix) + u128::from(numeral))
    }
}

impl NumeralString for Numerals {
    type Ops = Numerals;

    fn is_valid(&self, radix: u32) -> bool {
        self.0.iter().all(|&numeral| u32::from(numeral) < radix)
    }

    fn numeral_count(&self) -> usize {
        self.0.len()
    }

    fn split(&self) -> (Numerals, Numerals) {
        let (high, low) = self.0.split_at(self.0.len() / 2);
        (Numerals(high.to_vec()), Numerals(low.to_vec()))
    }

    fn concat(high: Numerals, low: Numerals) -> Numerals {
        Numerals([high.0, low.0].concat())
    }
}

impl Operations for Numerals {
    type Bytes = Vec<u8>;

    fn numeral_count(&self) -> usize {
        self.0.len()
    }

    fn to_be_bytes(&self, radix: u32, count: usize) -> Vec<u8> {
        self.value(radix).to_be_bytes()[16 - count..].to_vec()
    }

    fn add_mod_exp(self, other: impl Iterator<Item = u8>, radix: u32, count: usize) -> Numerals {
        let modulus = u128::from(radix).pow(count as u32);
        Numerals::of((self.value(radix) + modulo(other, modulus)) % modulus, radix, count)
    }

    fn sub_mod_exp(self, other: impl Iterator<Item = u8>, radix: u32, count: usize) -> Numerals {
        let modulus = u128::from(radix).pow(count as u32);
        Numerals::of((self.value(radix) + modulus - modulo(other, modulus)) % modulus, radix, count)
    }
}

fn modulo(bytes: impl Iterator<Item = u8>, modulus: u128) -> u128 {
    bytes.fold(0, |rest, byte| (rest << 8 | u128::from(byte)) % modulus)
}

/// The cipher as its library has it, of any radix.
fn ff1(key: &[u8], radix: u32, tweak: &[u8], numerals: Vec<u16>, encrypts: bool) -> Vec<u16> {
    let numerals = Numerals(numerals);
    macro_rules! with {
        ($aes:ty) => {{
            let cipher = FF1::<$aes>::new(key, radix).unwrap();
            match encrypts {
                true => cipher.encrypt(tweak, &numerals).unwrap().0,
                false => cipher.decrypt(tweak, &numerals).unwrap().0,
            }
        }};
    }
    match key.len() {
        16 => with!(Aes128),
        24 => with!(Aes192),
        _ => with!(Aes256),
    }
}

#[test]
fn the_cipher_passes_the_samples_of_its_standard() {
    let numerals =
        |text: &str| text.chars().map(|char| char.to_digit(36).unwrap() as u16).collect::<Vec<_>>();
    let vectors = public_id_vectors();
    let samples = entries(&vectors, "ff1_samples");
    assert_eq!(samples.len(), 9);
    for sample in samples {
        let [key, tweak] = ["key", "tweak"].map(|name| bytes(text(sample, name)));
        let [plain, encrypted] = ["plaintext", "ciphertext"].map(|name| numerals(text(sample, name)));
        let radix = sample["radix"].as_u64().unwrap() as u32;
        assert_eq!(ff1(&key, radix, &tweak, plain.clone(), true), encrypted, "{sample}");
        assert_eq!(ff1(&key, radix, &tweak, encrypted, false), plain, "{sample}");
    }
}

#[test]
fn an_id_is_encrypted_and_decrypted() {
    for entry in entries(&public_id_vectors(), "valid") {
        let (id, public_id) = (number(entry, "id"), number(entry, "public_id"));
        for key in [key(entry), PublicIdKey::from_hex(text(entry, "key")).unwrap()] {
            let ids = PublicIds::new(key, version(entry)).unwrap();
            assert_eq!(ids.version(), version(entry));
            assert_eq!(ids.encrypt(id), Ok(public_id), "{entry}");
            assert_eq!(ids.decrypt(public_id, version(entry)), Ok(id), "{entry}");
            for form in FORMS {
                assert_eq!(ids.format_id(id, form).as_deref(), Ok(text(entry, form.name())));
                assert_eq!(ids.parse_id(text(entry, form.name()), form), Ok(id));
            }
        }
    }
}

#[test]
fn what_it_makes_is_what_the_library_makes_of_63_numerals() {
    let mut random = Random(38);
    for round in 0..2_000 {
        let bytes: Vec<u8> = (0..[16, 24, 32][round % 3]).map(|_| random.next() as u8).collect();
        let version = random.below(32) as u32;
        let ids = PublicIds::new(PublicIdKey::new(&bytes).unwrap(), version).unwrap();
        let id = ((random.next() >> 1 >> random.below(63)) as i64).max(1);
        let numerals = (0..63).rev().map(|place| (id >> place & 1) as u16).collect();
        let expected = ff1(&bytes, 2, &[version as u8], numerals, true);
        let expected = expected.into_iter().fold(0, |bits, bit| bits << 1 | i64::from(bit));
        assert_eq!(ids.encrypt(id), Ok(expected), "{id}");
        assert_eq!(ids.decrypt(expected, version), Ok(id));
        for form in FORMS {
            assert_eq!(ids.parse_id(&ids.format_id(id, form).unwrap(), form), Ok(id));
        }
    }
}

#[test]
fn each_number_is_that_of_one_id() {
    let ids = PublicIds::new(PublicIdKey::new(&[7; 16]).unwrap(), 0).unwrap();
    let mut numbers: Vec<i64> = (1..=20_000).map(|id| ids.encrypt(id).unwrap()).collect();
    // Half of them lie above the middle, within four deviations of such a count.
    let high = numbers.iter().filter(|&&number| number >= 1 << 62).count();
    assert!((9_700..=10_300).contains(&high), "{high}");
    assert!(!numbers.is_sorted());
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 20_000);
    for number in 1..=5_000 {
        let id = ids.decrypt(number, 0).unwrap();
        assert_eq!(ids.encrypt(id), Ok(number));
    }
}

#[test]
fn the_first_key_encrypts_and_all_decrypt() {
    let vectors = public_id_vectors();
    let ids = of_both_keys(&vectors);
    for entry in entries(&vectors["rotation"], "texts") {
        let (id, version) = (number(entry, "id"), version(entry));
        assert_eq!(ids.decrypt(number(entry, "public_id"), version), Ok(id), "{entry}");
        for form in FORMS {
            assert_eq!(ids.parse_id(text(entry, form.name()), form), Ok(id), "{entry}");
            let is_first = version == ids.version();
            assert_eq!(ids.format_id(id, form).unwrap() == text(entry, form.name()), is_first);
        }
    }
    let mut ids = ids;
    for version in [1, 2] {
        let error = ids.add_key(PublicIdKey::new(&[0; 16]).unwrap(), version).unwrap_err();
        let expected = format!("version is {version}; allowed: a version that has no key yet");
        assert_eq!(error.message(), expected);
    }
}

#[test]
fn what_cannot_be_is_refused_and_the_error_says_why() {
    let vectors = public_id_vectors();
    let ids = of_both_keys(&vectors);
    for entry in entries(&vectors, "texts_refused") {
        let form = TextForm::parse(text(entry, "form")).unwrap();
        says(&ids.parse_id(text(entry, "text"), form).expect_err(&entry.to_string()), entry);
    }
    for entry in entries(&vectors, "decrypt_refused") {
        says(&ids.decrypt(number(entry, "public_id"), version(entry)).unwrap_err(), entry);
    }
    for entry in entries(&vectors, "ids_refused") {
        says(&ids.encrypt(number(entry, "id")).unwrap_err(), entry);
        says(&ids.format_id(number(entry, "id"), TextForm::Base62).unwrap_err(), entry);
    }
    for form in [TextForm::Decimal, TextForm::Uuid] {
        assert_eq!(ids.format_id(1, form).unwrap_err().code(), Code::InvalidArgument);
    }
    for entry in entries(&vectors, "versions_refused") {
        let key = || PublicIdKey::new(&[0; 16]).unwrap();
        says(&PublicIds::new(key(), version(entry)).unwrap_err(), entry);
        says(&PublicIds::new(key(), 0).unwrap().add_key(key(), version(entry)).unwrap_err(), entry);
    }
}

#[test]
fn a_key_has_16_24_or_32_bytes() {
    let vectors = public_id_vectors();
    for entry in entries(&vectors, "keys_refused") {
        let bytes = vec![0; entry["bytes"].as_u64().unwrap() as usize];
        says(&PublicIdKey::new(&bytes).unwrap_err(), entry);
    }
    for entry in entries(&vectors, "hex_accepted") {
        let same = PublicIds::new(PublicIdKey::new(&bytes(text(entry, "same_as"))).unwrap(), 0).unwrap();
        let read = PublicIds::new(PublicIdKey::from_hex(text(entry, "text")).unwrap(), 0).unwrap();
        assert_eq!(read.encrypt(42), same.encrypt(42), "{entry}");
    }
    for digits in entries(&vectors, "hex_refused") {
        let error = PublicIdKey::from_hex(digits.as_str().unwrap()).expect_err(&digits.to_string());
        assert_eq!(error.message(), text(&vectors, "hex_message"));
    }
}

#[test]
fn nothing_prints_a_key() {
    let key = PublicIdKey::new(&[0xab; 16]).unwrap();
    assert_eq!(format!("{key:?}"), "PublicIdKey");
    assert_eq!(format!("{:?}", PublicIds::new(key, 3).unwrap()), "PublicIds { versions: [3] }");
}
