//! Ids as text: decimal, base32, base62 and UUIDs.

use crate::id::whole;
use crate::quoted::Quoted;
use crate::uuid;
use crate::words::words;
use crate::{Error, Result};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use core::fmt::Display;

/// How an id is written as text. Each form has one text for an id, and parsing accepts no other.
///
/// The texts of all but `Decimal` have one width, and the order of their bytes is the order of the ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextForm {
    /// Decimal digits without leading zeros: 1 to 19 characters. Their order as text is not the order of the ids.
    Decimal,
    /// Crockford's base32, in upper case: 13 characters of `0-9` and `A-Z` without `I`, `L`, `O` and `U`.
    Base32,
    /// 11 characters of `0-9`, `A-Z` and `a-z`, in this order.
    Base62,
    /// The UUID of [`crate::id_to_uuid`] in lower case: 36 characters.
    Uuid,
}

const DECIMAL: &[u8] = b"0123456789";
const BASE32: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A text that is longer, and longer than its form, is cut in an error, which has to say what was wrong with it, too.
const MOST_SHOWN: usize = 20;

words! {
    TextForm of "form": "decimal" => Decimal, "base32" => Base32, "base62" => Base62, or "uuid" => Uuid
}

impl TextForm {
    /// All forms.
    pub const ALL: [TextForm; 4] = [TextForm::Decimal, TextForm::Base32, TextForm::Base62, TextForm::Uuid];

    /// The characters of the longest text.
    pub const fn width(self) -> usize {
        match self {
            TextForm::Decimal => 19,
            TextForm::Base32 => 13,
            TextForm::Base62 => 11,
            TextForm::Uuid => uuid::WIDTH,
        }
    }

    /// The text of an id. Errors: `invalid_argument` for a negative one.
    ///
    /// ```
    /// use leafid_core::TextForm;
    ///
    /// assert_eq!(TextForm::Base32.format_id(1_169_786_042_799_259_000)?, "10EZA6N444ZBR");
    /// assert_eq!(TextForm::Base62.format_id(1_169_786_042_799_259_000)?, "1OPdDHFpsF6");
    /// # Ok::<(), leafid_core::Error>(())
    /// ```
    pub fn format_id(self, id: i64) -> Result<String> {
        let value = whole(id)?;
        match self {
            TextForm::Decimal => return Ok(id.to_string()),
            TextForm::Uuid => return Ok(uuid::text(uuid::of_id(id)?)),
            TextForm::Base32 | TextForm::Base62 => {}
        }
        let digits = self.digits();
        let base = digits.len() as u64;
        let mut text = vec![b'0'; self.width()];
        let mut left = value;
        for place in text.iter_mut().rev() {
            *place = digits[(left % base) as usize];
            left /= base;
        }
        Ok(text.into_iter().map(char::from).collect())
    }

    /// The id of a text. Errors: `invalid_argument` for all but the text that [`TextForm::format_id`] makes.
    ///
    /// ```
    /// use leafid_core::TextForm;
    ///
    /// assert_eq!(TextForm::Base32.parse_id("10EZA6N444ZBR")?, 1_169_786_042_799_259_000);
    /// let error = TextForm::Base32.parse_id("10eZA6N444ZBR").unwrap_err();
    /// assert_eq!(
    ///     error.message(),
    ///     "id is \"10eZA6N444ZBR\", whose character 3 is \"e\"; allowed: 13 characters of 0-9 and A-Z without I, L, \
    ///      O, U, 0000000000000 to 7ZZZZZZZZZZZZ"
    /// );
    /// # Ok::<(), leafid_core::Error>(())
    /// ```
    pub fn parse_id(self, text: &str) -> Result<i64> {
        let (digits, width) = (self.digits(), text.chars().count());
        let is_wide = match self {
            TextForm::Decimal => (1..=self.width()).contains(&width),
            _ => width == self.width(),
        };
        if !is_wide {
            return Err(self.refused(text, format!("which has {width} characters")));
        }
        if self == TextForm::Uuid {
            let halves = uuid::parse(text).map_err(|at| self.wrong_character(text, at))?;
            return uuid::to_id(halves).map_err(|why| self.refused(text, why));
        }
        let mut id = Some(0i64);
        for (at, char) in text.chars().enumerate() {
            let Some(digit) = digits.iter().position(|&digit| char::from(digit) == char) else {
                return Err(self.wrong_character(text, at));
            };
            let moved = id.and_then(|id| id.checked_mul(digits.len() as i64));
            id = moved.and_then(|id| id.checked_add(digit as i64));
        }
        if self == TextForm::Decimal && width > 1 && text.starts_with('0') {
            return Err(self.refused(text, "which has a leading zero"));
        }
        id.ok_or_else(|| self.refused(text, "which is above the largest id"))
    }

    const fn digits(self) -> &'static [u8] {
        match self {
            TextForm::Decimal => DECIMAL,
            TextForm::Base32 => BASE32,
            TextForm::Base62 => BASE62,
            TextForm::Uuid => uuid::HEX,
        }
    }

    #[cold]
    fn wrong_character(self, text: &str, at: usize) -> Error {
        let shown: String = text.chars().skip(at).take(1).collect();
        self.refused(text, format!("whose character {} is {}", at + 1, Quoted(&shown)))
    }

    #[cold]
    fn refused(self, text: &str, why: impl Display) -> Error {
        let allowed = match self {
            TextForm::Decimal => "decimal digits without leading zeros, 0 to 9223372036854775807",
            TextForm::Base32 => {
                "13 characters of 0-9 and A-Z without I, L, O, U, 0000000000000 to 7ZZZZZZZZZZZZ"
            }
            TextForm::Base62 => "11 characters of 0-9, A-Z and a-z, 00000000000 to AzL8n0Y58m7",
            TextForm::Uuid => uuid::ALLOWED,
        };
        let shown = match text.char_indices().nth(MOST_SHOWN.max(self.width())) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_string(),
        };
        Error::invalid("id", format!("{}, {why}", Quoted(&shown)), allowed)
    }
}
