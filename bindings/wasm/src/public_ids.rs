//! Public ids.

use crate::argument::within;
use crate::module::{Kind, Module, Result, exports, utf8, write};
use leafid_core::{PublicIdKey, PublicIds, TextForm};

impl Kind for PublicIds {
    const NAME: &'static str = "public ids";
}

fn key(module: &mut Module, length: i32, hex: i32) -> Result<PublicIdKey> {
    let [bytes] = module.input([length])?;
    // An error about digits says nothing of them.
    let key =
        if hex == 0 { PublicIdKey::new(bytes) } else { PublicIdKey::from_hex(utf8(bytes).unwrap_or("")) };
    module.forget_input();
    Ok(key?)
}

fn checked(version: f64) -> Result<u32> {
    within("version", version, 31)
}

exports! {
    /// Public ids of one key. The input is its bytes, or with `hex` 1 their hexadecimal digits, and is overwritten.
    fn public_ids_new(module, key_length: i32, hex: i32, version: f64) -> i32 {
        let ids = PublicIds::new(key(module, key_length, hex)?, checked(version)?)?;
        Ok(module.add(ids))
    }

    /// Adds a key of another version, which decrypts only. The input is as of `public_ids_new`.
    fn public_ids_add_key(module, ids: i32, key_length: i32, hex: i32, version: f64) -> i32 {
        let key = key(module, key_length, hex)?;
        module.get_mut::<PublicIds>(ids)?.add_key(key, checked(version)?)?;
        Ok(0)
    }

    /// The number that stands for an id.
    fn public_ids_encrypt(module, ids: i32, id: i64) -> i64 {
        Ok(module.get::<PublicIds>(ids)?.encrypt(id)?)
    }

    /// The id of a number that was made with the key of this version.
    fn public_ids_decrypt(module, ids: i32, public_id: i64, version: f64) -> i64 {
        Ok(module.get::<PublicIds>(ids)?.decrypt(public_id, checked(version)?)?)
    }

    /// The text that stands for an id, as output; the input is the form's name.
    fn public_ids_format(module, ids: i32, form_length: i32, id: i64) -> i32 {
        let [form] = module.texts([form_length])?;
        write(&[&module.get::<PublicIds>(ids)?.format_id(id, TextForm::parse(form)?)?]);
        Ok(0)
    }

    /// The id of a text; the input is the form's name and the text.
    fn public_ids_parse(module, ids: i32, form_length: i32, text_length: i32) -> i64 {
        let [form, text] = module.texts([form_length, text_length])?;
        Ok(module.get::<PublicIds>(ids)?.parse_id(text, TextForm::parse(form)?)?)
    }
}
