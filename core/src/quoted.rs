//! Texts in quotes, for messages.

use core::fmt::{self, Write};

/// A text in double quotes, as `{:?}` shows it: quotes, backslashes and what is invisible or changes the direction of
/// writing are escaped.
///
/// `{:?}` decides by tables of all of Unicode, which are larger than the rest of a small program's formatting.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

/// As [`Quoted`], without the quotes around it.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "\"{}\"", Escaped(self.0))
    }
}

/// Bytes of the system that should be text, as [`Quoted`] shows them. What is no UTF-8 is shown by its bytes.
#[cfg(all(feature = "format", feature = "options", feature = "wire"))]
pub(crate) struct QuotedBytes<'a>(pub(crate) &'a [u8]);

#[cfg(all(feature = "format", feature = "options", feature = "wire"))]
impl fmt::Display for QuotedBytes<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_char('"')?;
        for chunk in self.0.utf8_chunks() {
            Escaped(chunk.valid()).fmt(to)?;
            chunk.invalid().iter().try_for_each(|byte| write!(to, "\\x{byte:02X}"))?;
        }
        to.write_char('"')
    }
}

/// For [`crate::options::Variable`].
#[cfg(all(feature = "format", feature = "options", feature = "wire"))]
impl fmt::Debug for QuotedBytes<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, to)
    }
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        for char in self.0.chars() {
            match char {
                '"' | '\\' | '\n' | '\r' | '\t' | '\0' => write!(to, "\\{}", short(char))?,
                '\u{1}'..' '
                | '\u{7f}'..'\u{a0}'
                | '\u{ad}'
                | '\u{61c}'
                | '\u{300}'..='\u{36f}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}' => {
                    write!(to, "\\u{{{:x}}}", u32::from(char))?;
                }
                char => to.write_char(char)?,
            }
        }
        Ok(())
    }
}

fn short(char: char) -> char {
    match char {
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\0' => '0',
        itself => itself,
    }
}

#[cfg(test)]
mod tests {
    use super::Quoted;
    use alloc::format;
    use alloc::string::ToString;

    #[test]
    fn as_debug_shows_it() {
        for text in [
            "",
            "order-7",
            "a\"b\\c",
            "\0\r\n\t\u{1b}[2J",
            "é日本…😀\u{fffd}",
            "a\u{200b}b\u{202e}\u{feff}\u{7f}\u{85}",
            "\u{301}\u{180e}\u{fe0f}\u{fffa}\u{e0041}\u{e0100}",
        ] {
            assert_eq!(Quoted(text).to_string(), format!("{text:?}"));
        }
    }
}
