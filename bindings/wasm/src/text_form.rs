//! Ids as text, and back.

use crate::module::call;
#[cfg(feature = "wire")]
use leafid_core::TextForm;

/// The id of decimal digits.
#[unsafe(no_mangle)]
extern "C" fn id_parse(length: i32) -> i64 {
    call(|module| {
        let [text] = module.texts([length])?;
        Ok(leafid_core::parse_id(text)?)
    })
}

/// Writes the text of an id to the output; the input is the form's name.
#[cfg(feature = "wire")]
#[unsafe(no_mangle)]
extern "C" fn id_format(form_length: i32, id: i64) -> i32 {
    call(|module| {
        let [form] = module.texts([form_length])?;
        crate::module::write(&[&TextForm::parse(form)?.format_id(id)?]);
        Ok(0)
    })
}

/// The id of a text; the input is the form's name and the text.
#[cfg(feature = "wire")]
#[unsafe(no_mangle)]
extern "C" fn id_parse_form(form_length: i32, text_length: i32) -> i64 {
    call(|module| {
        let [form, text] = module.texts([form_length, text_length])?;
        Ok(TextForm::parse(form)?.parse_id(text)?)
    })
}
