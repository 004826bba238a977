//! Ids as text, and what has no object.

use crate::call::{Class, Texts, call, new_texts, text, texts};
use crate::options::known;
use jni::objects::JString;
use jni::sys::jlong;
use jni::{EnvUnowned, jni_mangle};
use leafid::{OptionOf, TextForm};

/// An id as text.
#[jni_mangle("io.leafid.Ids", "format0")]
pub fn format_id<'l>(env: EnvUnowned<'l>, _: Class<'l>, id: jlong, form: JString<'l>) -> JString<'l> {
    call(env, |env| {
        let form = TextForm::parse(&text(env, &form)?)?;
        Ok(env.new_string(form.format_id(id)?)?)
    })
}

/// An id of text.
#[jni_mangle("io.leafid.Ids", "parse0")]
pub fn parse_id<'l>(env: EnvUnowned<'l>, _: Class<'l>, given: JString<'l>, form: JString<'l>) -> jlong {
    call(env, |env| Ok(TextForm::parse(&text(env, &form)?)?.parse_id(&text(env, &given)?)?))
}

/// The names and kinds of the options of a snowflake, or of segments.
#[jni_mangle("io.leafid.Native", "options")]
pub fn options<'l>(env: EnvUnowned<'l>, _: Class<'l>, of_segments: bool) -> Texts<'l> {
    let of = if of_segments { OptionOf::Segments } else { OptionOf::Snowflake };
    call(env, |env| Ok(new_texts(env, &known(of))?))
}

/// The metrics of this process.
#[jni_mangle("io.leafid.Native", "metrics")]
pub fn metrics<'l>(env: EnvUnowned<'l>, _: Class<'l>) -> JString<'l> {
    call(env, |env| Ok(env.new_string(leafid::metrics())?))
}

/// The version of this library: that of the whole project.
#[jni_mangle("io.leafid.Native", "version")]
pub fn version<'l>(env: EnvUnowned<'l>, _: Class<'l>) -> JString<'l> {
    call(env, |env| Ok(env.new_string(env!("CARGO_PKG_VERSION"))?))
}

/// Runs the command line, and returns its exit code.
#[jni_mangle("io.leafid.Native", "cli")]
pub fn cli<'l>(env: EnvUnowned<'l>, _: Class<'l>, arguments: Texts<'l>) -> jlong {
    call(env, |env| {
        let words: Vec<String> = texts(env, &arguments)?.into_iter().flatten().collect();
        Ok(i64::from(leafid::cli::main(words)))
    })
}
