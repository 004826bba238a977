//! Ids as text, and back.

use crate::module::exports;
#[cfg(feature = "wire")]
use leafid_core::TextForm;

exports! {
    /// The id of decimal digits.
    fn id_parse(module, length: i32) -> i64 {
        let [text] = module.texts([length])?;
        Ok(leafid_core::parse_id(text)?)
    }

    /// Writes the text of an id to the output; the input is the form's name.
    #[cfg(feature = "wire")]
    fn id_format(module, form_length: i32, id: i64) -> i32 {
        let [form] = module.texts([form_length])?;
        crate::module::write(&[&TextForm::parse(form)?.format_id(id)?]);
        Ok(0)
    }

    /// The id of a text; the input is the form's name and the text.
    #[cfg(feature = "wire")]
    fn id_parse_form(module, form_length: i32, text_length: i32) -> i64 {
        let [form, text] = module.texts([form_length, text_length])?;
        Ok(TextForm::parse(form)?.parse_id(text)?)
    }
}
