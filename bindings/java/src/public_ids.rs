//! Public ids: ids encrypted one to one.

use crate::call::{Class, Texts, call, free, held, keep, text, texts};
use jni::objects::{JObject, JString};
use jni::sys::jlong;
use jni::{EnvUnowned, jni_mangle};
use leafid::{Error, PublicIds, TextForm, load_public_id_key};

/// Keys, each with its version: the first one encrypts. A key is its text, or names where it is.
#[jni_mangle("io.leafid.PublicIds", "open")]
pub fn open<'l>(env: EnvUnowned<'l>, _: Class<'l>, keys: Texts<'l>) -> jlong {
    call(env, |env| {
        let mut made: Option<PublicIds> = None;
        for given in texts(env, &keys)?.chunks(2) {
            let [Some(source), Some(version)] = given else { continue };
            let wrong = || Error::invalid("version", version, "0 to 31");
            let (key, version) = (load_public_id_key(source)?, version.parse().map_err(|_| wrong())?);
            match &mut made {
                Some(ids) => ids.add_key(key, version)?,
                None => made = Some(PublicIds::new(key, version)?),
            }
        }
        Ok(keep(made.ok_or_else(|| Error::invalid("keys", "empty", "at least one key"))?))
    })
}

/// The public id of an id.
#[jni_mangle("io.leafid.PublicIds", "encrypt")]
pub fn encrypt<'l>(env: EnvUnowned<'l>, _: JObject<'l>, handle: jlong, id: jlong) -> jlong {
    // SAFETY: a handle of `open`, whose object is the receiver.
    call(env, |_| Ok(unsafe { held::<PublicIds>(handle) }.encrypt(id)?))
}

/// The id of a public id of a version.
#[jni_mangle("io.leafid.PublicIds", "decrypt")]
pub fn decrypt<'l>(
    env: EnvUnowned<'l>,
    _: JObject<'l>,
    handle: jlong,
    public_id: jlong,
    version: jlong,
) -> jlong {
    call(env, |_| {
        let version = u32::try_from(version).map_err(|_| Error::invalid("version", version, "0 to 31"))?;
        // SAFETY: as above.
        Ok(unsafe { held::<PublicIds>(handle) }.decrypt(public_id, version)?)
    })
}

/// The public id of an id as text, with its version.
#[jni_mangle("io.leafid.PublicIds", "format")]
pub fn format<'l>(
    env: EnvUnowned<'l>,
    _: JObject<'l>,
    handle: jlong,
    id: jlong,
    form: JString<'l>,
) -> JString<'l> {
    call(env, |env| {
        let form = TextForm::parse(&text(env, &form)?)?;
        // SAFETY: as above.
        Ok(env.new_string(unsafe { held::<PublicIds>(handle) }.format_id(id, form)?)?)
    })
}

/// The id of such a text.
#[jni_mangle("io.leafid.PublicIds", "parse")]
pub fn parse<'l>(
    env: EnvUnowned<'l>,
    _: JObject<'l>,
    handle: jlong,
    given: JString<'l>,
    form: JString<'l>,
) -> jlong {
    call(env, |env| {
        let form = TextForm::parse(&text(env, &form)?)?;
        // SAFETY: as above.
        Ok(unsafe { held::<PublicIds>(handle) }.parse_id(&text(env, &given)?, form)?)
    })
}

/// Ends the handle, and forgets the keys.
#[jni_mangle("io.leafid.PublicIds", "free")]
pub fn free_public_ids<'l>(env: EnvUnowned<'l>, _: Class<'l>, handle: jlong) {
    call(env, |_| {
        // SAFETY: its object has gone, and nothing else uses it.
        unsafe { free::<PublicIds>(handle) };
        Ok(())
    });
}
