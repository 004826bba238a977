//! Ids that do not tell how many there are, nor when they were made.

use crate::public_id_key::PublicIdKey;
use crate::quoted::Quoted;
use crate::text_form::TextForm;
use crate::{Error, Result};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// The digits of a version in a text: Crockford's base32. They are digits of base62, too.
const VERSIONS: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

const MOST: &str = "9223372036854775807";

/// Encrypts ids to numbers of the same 63 bits and back, one to one: FF1 of NIST SP 800-38G with AES.
///
/// Each key has a version. A text begins with the version of its key, so that texts of several keys can be decrypted; a
/// number does not tell it. The first key encrypts. docs/PUBLIC-IDS.md says what this hides and what it does not.
///
/// ```
/// use leafid_core::{PublicIdKey, PublicIds, TextForm};
///
/// let ids = PublicIds::new(PublicIdKey::from_hex("2b7e151628aed2a6abf7158809cf4f3c")?, 1)?;
/// let public_id = ids.encrypt(1_169_786_042_799_259_000)?;
/// assert_eq!(ids.decrypt(public_id, 1)?, 1_169_786_042_799_259_000);
///
/// let text = ids.format_id(1_169_786_042_799_259_000, TextForm::Base32)?;
/// assert_eq!(text, format!("1{}", TextForm::Base32.format_id(public_id)?));
/// assert_eq!(ids.parse_id(&text, TextForm::Base32)?, 1_169_786_042_799_259_000);
/// # Ok::<(), leafid_core::Error>(())
/// ```
pub struct PublicIds {
    /// The first one encrypts.
    keys: Vec<(u8, PublicIdKey)>,
}

impl PublicIds {
    /// Of a key and its version, 0 to 31. Errors: `invalid_argument`.
    pub fn new(key: PublicIdKey, version: u32) -> Result<PublicIds> {
        Ok(PublicIds { keys: vec![(checked(version)?, key)] })
    }

    /// Adds a key of another version, which decrypts only. Errors: `invalid_argument`, for a version that has a key, too.
    pub fn add_key(&mut self, key: PublicIdKey, version: u32) -> Result<()> {
        let version = checked(version)?;
        if self.key(version).is_some() {
            return Err(Error::invalid("version", version, "a version that has no key yet"));
        }
        self.keys.push((version, key));
        Ok(())
    }

    /// The version of the key that encrypts.
    pub fn version(&self) -> u32 {
        u32::from(self.keys[0].0)
    }

    /// The number that stands for an id, with the key of [`PublicIds::version`]. Errors: `invalid_argument` for an id below 1.
    pub fn encrypt(&self, id: i64) -> Result<i64> {
        let (version, key) = &self.keys[0];
        if id < 1 {
            return Err(Error::invalid("id", id, &format!("1 to {MOST}")));
        }
        Ok(key.encrypt(&[*version], id as u64)? as i64)
    }

    /// The id of a number that [`PublicIds::encrypt`] made with the key of this version.
    ///
    /// Each number is that of some id: one that was made with another key, or by chance, is not recognized.
    ///
    /// Errors: `invalid_argument` for a negative number, for the one that would be of the id 0, and for a version without
    /// a key.
    pub fn decrypt(&self, public_id: i64, version: u32) -> Result<i64> {
        let version = checked(version)?;
        let key = self.key(version).ok_or_else(|| Error::invalid("version", version, &self.allowed()))?;
        let number = u64::try_from(public_id);
        let number = number.map_err(|_| Error::out_of_range("public_id", public_id, MOST))?;
        match key.decrypt(&[version], number)? {
            0 => Err(Error::invalid("public_id", public_id, "the number of an id")),
            id => Ok(id as i64),
        }
    }

    /// The text that stands for an id: one digit for the version, 0-9 or A-Z without I, L, O and U, and the number of
    /// [`PublicIds::encrypt`] in this form.
    ///
    /// Errors: `invalid_argument` for an id below 1, and for a form other than base32 and base62.
    pub fn format_id(&self, id: i64, form: TextForm) -> Result<String> {
        let mut text = String::with_capacity(1 + form.width());
        text.push(char::from(VERSIONS[usize::from(self.keys[0].0)]));
        text.push_str(&fixed(form)?.format_id(self.encrypt(id)?)?);
        Ok(text)
    }

    /// The id of a text of [`PublicIds::format_id`], with the key of the text's version.
    ///
    /// Errors: `invalid_argument`, as of [`PublicIds::decrypt`] and [`TextForm::parse_id`].
    pub fn parse_id(&self, text: &str, form: TextForm) -> Result<i64> {
        let form = fixed(form)?;
        let version = text.chars().next();
        let version = VERSIONS.iter().position(|&digit| Some(char::from(digit)) == version);
        let known = version.filter(|&version| self.key(version as u8).is_some());
        let Some(version) = known else {
            let shown: String = text.chars().take(20).collect();
            let allowed = format!("a text that begins with its version, {}", self.allowed());
            return Err(Error::invalid("public_id", Quoted(&shown), &allowed));
        };
        // The digits of versions have one byte.
        self.decrypt(form.parse_id(&text[1..])?, version as u32)
    }

    fn key(&self, version: u8) -> Option<&PublicIdKey> {
        self.keys.iter().find(|(of, _)| *of == version).map(|(_, key)| key)
    }

    #[cold]
    fn allowed(&self) -> String {
        let versions: Vec<String> = self.keys.iter().map(|(version, _)| version.to_string()).collect();
        format!("versions that have a key: {}", versions.join(", "))
    }
}

impl fmt::Debug for PublicIds {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let versions: Vec<u8> = self.keys.iter().map(|(version, _)| *version).collect();
        to.debug_struct("PublicIds").field("versions", &versions).finish()
    }
}

fn checked(version: u32) -> Result<u8> {
    let known = u8::try_from(version).ok().filter(|&version| usize::from(version) < VERSIONS.len());
    known.ok_or_else(|| Error::invalid("version", version, "0 to 31"))
}

/// Texts of decimal digits would be taken for numbers, and UUIDs have no room for a version.
fn fixed(form: TextForm) -> Result<TextForm> {
    match form {
        TextForm::Base32 | TextForm::Base62 => Ok(form),
        TextForm::Decimal | TextForm::Uuid => {
            Err(Error::invalid("form", Quoted(form.name()), "\"base32\" or \"base62\""))
        }
    }
}
