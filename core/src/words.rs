//! The words by which the values of an enum are written.

/// The conversions of an enum to words and back, and the words for the table of options and for errors.
macro_rules! words {
    ($type:ident of $option:literal:
        $first:literal => $of_first:ident, $($word:literal => $of_word:ident,)* or $last:literal => $of_last:ident) => {
        impl $type {
            /// Its words, in their order.
            #[allow(dead_code, reason = "not each is an option, with a row in the table")]
            pub(crate) const WORDS: &'static [&'static str] = &[$first, $($word,)* $last];
            /// The allowed values, for error messages.
            pub(crate) const ALLOWED: &'static str =
                concat!("\"", $first, $("\", \"", $word,)* "\" or \"", $last, "\"");

            #[doc = concat!("Parses `", $first, $("`, `", $word,)* "` or `", $last, "`. Errors: `invalid_argument`.")]
            pub fn parse(text: &str) -> $crate::Result<$type> {
                match text {
                    $first => Ok($type::$of_first),
                    $($word => Ok($type::$of_word),)*
                    $last => Ok($type::$of_last),
                    _ => Err($crate::Error::invalid($option, $crate::quoted::Quoted(text), $type::ALLOWED)),
                }
            }

            #[doc = concat!("The name that [`", stringify!($type), "::parse`] accepts.")]
            pub const fn name(self) -> &'static str {
                match self {
                    $type::$of_first => $first,
                    $($type::$of_word => $word,)*
                    $type::$of_last => $last,
                }
            }
        }
    };
}

pub(crate) use words;
