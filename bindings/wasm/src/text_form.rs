//! Ids as text in one of several forms, and back.

use crate::module::{call, write};
use leafid_core::TextForm;

/// Writes the text of an id to the output; the input is the form's name.
#[unsafe(no_mangle)]
extern "C" fn id_format(form_length: i32, id: i64) -> i32 {
    call(|module| {
        let [form] = module.texts([form_length])?;
        write(&[&TextForm::parse(form)?.format_id(id)?]);
        Ok(0)
    })
}

/// The id of a text; the input is the form's name and the text.
#[unsafe(no_mangle)]
extern "C" fn id_parse_form(form_length: i32, text_length: i32) -> i64 {
    call(|module| {
        let [form, text] = module.texts([form_length, text_length])?;
        Ok(TextForm::parse(form)?.parse_id(text)?)
    })
}
