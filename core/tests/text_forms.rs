//! Ids as text are what tests/vectors/text_forms.json says, both ways, for every refusal.

use crate::common::{entries, number, text, text_form_vectors};
use leafid_core::{Code, TextForm};

#[test]
fn each_form_has_its_text_of_an_id_and_reads_it() {
    for entry in entries(&text_form_vectors(), "valid") {
        let id = number(entry, "id");
        for form in TextForm::ALL {
            let text = text(entry, form.name());
            assert_eq!(form.format_id(id).as_deref(), Ok(text), "{id} as {form:?}");
            assert_eq!(form.parse_id(text), Ok(id), "{text} as {form:?}");
            assert!(text.len() <= form.width(), "{text}");
        }
    }
}

#[test]
fn the_order_of_fixed_widths_is_the_order_of_the_ids() {
    let vectors = text_form_vectors();
    for pair in entries(&vectors, "valid").windows(2) {
        assert!(number(&pair[0], "id") < number(&pair[1], "id"), "the vectors ascend");
        for form in [TextForm::Base32, TextForm::Base62, TextForm::Uuid] {
            let [low, high] = [&pair[0], &pair[1]].map(|entry| text(entry, form.name()).as_bytes());
            assert!(low < high, "{pair:?}");
            assert_eq!([low.len(), high.len()], [form.width(); 2]);
        }
    }
}

#[test]
fn any_other_text_is_refused_and_the_error_says_why() {
    let vectors = text_form_vectors();
    for section in ["refused", "refused_counted_text"] {
        for entry in entries(&vectors, section) {
            let form = TextForm::parse(text(entry, "form")).unwrap();
            let error = form.parse_id(text(entry, "text")).expect_err(&entry.to_string());
            assert_eq!((error.code(), error.message()), (Code::InvalidArgument, text(entry, "message")));
        }
    }
}

#[test]
fn each_character_outside_an_alphabet_is_refused_at_each_place() {
    let vectors = text_form_vectors();
    // At the first place larger digits are above the largest id.
    for (form, largest_first) in [(TextForm::Base32, 7), (TextForm::Base62, 10)] {
        let alphabet = text(&vectors["alphabets"], form.name());
        for byte in (0..128u8).map(char::from) {
            for at in 0..form.width() {
                let zeros = "0".repeat(form.width() - 1);
                let with = format!("{}{byte}{}", &zeros[..at], &zeros[at..]);
                let expected = alphabet.find(byte).is_some_and(|digit| at > 0 || digit <= largest_first);
                assert_eq!(form.parse_id(&with).is_ok(), expected, "{with:?}");
            }
        }
    }
}

#[test]
fn an_id_that_cannot_be_and_a_name_of_no_form_are_refused() {
    let vectors = text_form_vectors();
    for id in entries(&vectors, "format_refused") {
        let id: i64 = id.as_str().unwrap().parse().unwrap();
        for form in TextForm::ALL {
            let error = form.format_id(id).unwrap_err();
            assert_eq!(error.message(), format!("id is {id}; allowed: 0 to 9223372036854775807"));
        }
    }
    for name in entries(&vectors, "form_refused") {
        let error = TextForm::parse(name.as_str().unwrap()).unwrap_err();
        let expected = format!("form is {name}; allowed: \"decimal\", \"base32\", \"base62\" or \"uuid\"");
        assert_eq!((error.code(), error.message()), (Code::InvalidArgument, expected.as_str()));
    }
}
