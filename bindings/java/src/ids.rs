//! Ids as text, and what has no object.

use crate::call::{Texts, code_of, natives, new_texts, text, texts};
use crate::options::known;
use jni::objects::JString;
use jni::sys::{jboolean, jlong};
use leafid::{Code, Error, OptionOf, TextForm, allowed};

natives! { "io.leafid.Ids";
    /// An id as text.
    "format0"(env, id: jlong, form: JString<'l>) -> JString<'l> {
        let form = TextForm::parse(&text(env, "form", &form)?)?;
        Ok(env.new_string(form.format_id(id)?)?)
    }

    /// An id of text.
    "parse0"(env, given: JString<'l>, form: JString<'l>) -> jlong {
        Ok(TextForm::parse(&text(env, "form", &form)?)?.parse_id(&text(env, "text", &given)?)?)
    }
}

natives! { "io.leafid.Native";
    /// Whether errors of this code can go away by themselves.
    "canRetry"(env, code: JString<'l>) -> jboolean {
        Ok(code_of(&text(env, "code", &code)?).is_some_and(Code::can_retry))
    }

    /// Throws the error of an argument of a call.
    "refuse"(env, name: JString<'l>, value: jlong) {
        let name = text(env, "name", &name)?;
        Err(Error::invalid(&name, value, allowed(&name)).into())
    }

    /// The names and kinds of the options of a snowflake, or of segments.
    "options"(env, of_segments: bool) -> Texts<'l> {
        let of = if of_segments { OptionOf::Segments } else { OptionOf::Snowflake };
        Ok(new_texts(env, &known(of))?)
    }

    /// The metrics of this process.
    "metrics"(env) -> JString<'l> {
        Ok(env.new_string(leafid::metrics())?)
    }

    /// The version of this library: that of the whole project.
    "version"(env) -> JString<'l> {
        Ok(env.new_string(env!("CARGO_PKG_VERSION"))?)
    }

    /// No claim that a lease server did not answer is sent again.
    "forgetUnansweredClaims"(_env) {
        leafid::forget_unanswered_claims();
        Ok(())
    }

    /// Runs the command line, and returns its exit code.
    "cli"(env, arguments: Texts<'l>) -> jlong {
        let words: Vec<String> = texts(env, &arguments)?.into_iter().flatten().collect();
        Ok(i64::from(leafid::cli::main(words)))
    }
}
