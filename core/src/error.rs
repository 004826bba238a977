//! The error type of leafid.

use crate::Code;
use crate::secrets::{has, shown_url};
use crate::spelling::Named;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;

/// As `format!`, for the message of an error. Without the feature `messages` the text is empty, and nothing is formatted.
macro_rules! message {
    ($($part:tt)*) => {
        if cfg!(feature = "messages") { alloc::format!($($part)*) } else { alloc::string::String::new() }
    };
}
pub(crate) use message;

/// The result type of leafid.
pub type Result<T> = core::result::Result<T, Error>;

/// An error: what happened, with the numbers, and what to do. Without the feature `messages`, only the code, and the name
/// of a wrong argument.
///
/// It is as large as one pointer, so that a result with an id stays in registers.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Inner {
    code: Code,
    message: String,
}

impl Error {
    /// An error of this code. The message starts in lower case and says what to do.
    #[cold]
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error::of(code, if cfg!(feature = "messages") { message.into() } else { String::new() })
    }

    fn of(code: Code, message: String) -> Error {
        Error(Box::new(Inner { code, message }))
    }

    /// `invalid_argument` for the option or argument `name`, with its value and the allowed values. Nothing before an @
    /// is shown.
    ///
    /// ```
    /// let error = leafid_core::Error::invalid("worker", 1024, "0 to 1023");
    /// assert_eq!(error.to_string(), "invalid_argument: worker is 1024; allowed: 0 to 1023");
    /// ```
    #[cold]
    pub fn invalid(name: &str, value: impl fmt::Display, allowed: &str) -> Error {
        if !cfg!(feature = "messages") {
            return Error::of(Code::InvalidArgument, name.into());
        }
        Error::invalid_text(name, value.to_string(), allowed)
    }

    /// As [`Error::invalid`], for a number that is not 0 to `most`.
    ///
    /// ```
    /// let error = leafid_core::Error::out_of_range("worker_id", 1024, 1023);
    /// assert_eq!(error.message(), "worker_id is 1024; allowed: 0 to 1023");
    /// ```
    #[cold]
    pub fn out_of_range(name: &str, value: impl fmt::Display, most: impl fmt::Display) -> Error {
        Error::invalid(name, value, &message!("0 to {most}"))
    }

    fn invalid_text(name: &str, value: String, allowed: &str) -> Error {
        // Whatever option it was meant for, and in whatever place: it may be the URL of a store, with a password.
        let is_url = |text: &str| ["@", "://", "password="].iter().any(|sign| has(text, sign));
        let shown = |text: &str| if is_url(text) { shown_url(text) } else { text.into() };
        let (name, mut value) = (shown(name), shown(&value));
        if value.len() > 200 {
            let end = (0..=200).rev().find(|&at| value.is_char_boundary(at)).unwrap_or(0);
            value.truncate(end);
            value.push('…');
        }
        Error::new(Code::InvalidArgument, message!("{} is {value}; allowed: {allowed}", Named(&name)))
    }

    /// The code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// What happened and what to do, without the code.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The same error with text before its message.
    pub fn context(self, before: impl fmt::Display) -> Error {
        if !cfg!(feature = "messages") {
            return self;
        }
        Error::new(self.code(), message!("{before}: {}", self.message()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0.message {
            "" => f.write_str(self.0.code.name()),
            message => write!(f, "{}: {message}", self.0.code.name()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for Error {}
