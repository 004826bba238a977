//! Public ids: ids encrypted one to one.

use crate::call::{Texts, keep, natives, text, texts};
use jni::objects::JString;
use jni::sys::jlong;
use leafid::{Error, PublicIds, TextForm, allowed, load_public_id_key};

natives! { "io.leafid.PublicIds";
    /// Keys, each with its version: the first one encrypts. A key is its text, or names where it is.
    "open"(env, keys: Texts<'l>) -> jlong {
        let mut made: Option<PublicIds> = None;
        for (at, given) in texts(env, &keys)?.chunks(2).enumerate() {
            // Another key must not move into the place of one that is missing: the first one encrypts.
            let at = at + 1;
            let Some(source) = &given[0] else {
                let null = format!("null, where key {at} should be");
                return Err(Error::invalid("key", null, "\"env:NAME\" or \"file:PATH\"").into());
            };
            let Some(Some(version)) = given.get(1) else {
                return Err(Error::invalid("version", format!("missing after key {at}"), allowed("version")).into());
            };
            let wrong = || Error::invalid("version", version, allowed("version"));
            let (key, version) = (load_public_id_key(source)?, version.parse().map_err(|_| wrong())?);
            match &mut made {
                Some(ids) => ids.add_key(key, version)?,
                None => made = Some(PublicIds::new(key, version)?),
            }
        }
        Ok(keep(made.ok_or_else(|| Error::invalid("keys", "empty", "at least one key"))?))
    }
}

natives! { "io.leafid.PublicIds" freed PublicIds;
    /// The public id of an id.
    "encrypt"(_env, ids, id: jlong) -> jlong {
        Ok(ids.encrypt(id)?)
    }

    /// The id of a public id of a version.
    "decrypt"(_env, ids, public_id: jlong, version: jlong) -> jlong {
        let version = u32::try_from(version).map_err(|_| Error::invalid("version", version, allowed("version")))?;
        Ok(ids.decrypt(public_id, version)?)
    }

    /// The public id of an id as text, with its version.
    "format"(env, ids, id: jlong, form: JString<'l>) -> JString<'l> {
        let form = TextForm::parse(&text(env, "form", &form)?)?;
        Ok(env.new_string(ids.format_id(id, form)?)?)
    }

    /// The id of such a text.
    "parse"(env, ids, given: JString<'l>, form: JString<'l>) -> jlong {
        let form = TextForm::parse(&text(env, "form", &form)?)?;
        Ok(ids.parse_id(&text(env, "text", &given)?, form)?)
    }
}
