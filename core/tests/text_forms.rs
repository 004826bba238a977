//! Ids as text, and inside of UUIDs, are what tests/vectors/text_forms.json and uuids.json say, both ways, for every
//! refusal.

use crate::common::{entries, number, text, text_form_vectors, uuid_vectors};
use leafid_core::{Code, TextForm, id_to_uuid, uuid_to_id};

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

#[test]
fn an_id_has_its_uuid_and_the_uuid_its_id() {
    for entry in entries(&uuid_vectors(), "valid") {
        let (id, bytes) = (number(entry, "id"), text(entry, "bytes"));
        let uuid = u128::from_str_radix(bytes, 16).unwrap();
        assert_eq!(id_to_uuid(id), Ok(uuid), "{id}");
        assert_eq!(uuid_to_id(uuid), Ok(id), "{bytes}");
        assert_eq!(text(entry, "uuid").replace('-', ""), bytes);
        assert_eq!(TextForm::Uuid.format_id(id).as_deref(), Ok(text(entry, "uuid")));
    }
}

#[test]
fn each_bit_that_is_not_the_ids_is_fixed() {
    let ids_own = id_to_uuid(i64::MAX).unwrap() ^ id_to_uuid(0).unwrap();
    assert_eq!(ids_own.count_ones(), 63);
    for entry in entries(&uuid_vectors(), "valid") {
        let uuid = id_to_uuid(number(entry, "id")).unwrap();
        for bit in (0..128).map(|place| 1u128 << place) {
            let other = uuid_to_id(uuid ^ bit);
            assert_eq!(other.is_ok(), ids_own & bit != 0, "{uuid:x} {bit:x}");
            assert_ne!(other, Ok(number(entry, "id")));
        }
    }
}

#[test]
fn any_other_uuid_is_refused_and_the_error_says_why() {
    for entry in entries(&uuid_vectors(), "refused") {
        let uuid = u128::from_str_radix(&text(entry, "uuid").replace('-', ""), 16).unwrap();
        let error = uuid_to_id(uuid).expect_err(&entry.to_string());
        assert_eq!((error.code(), error.message()), (Code::InvalidArgument, text(entry, "message")));
    }
    for id in entries(&uuid_vectors(), "id_refused") {
        let error = id_to_uuid(id.as_str().unwrap().parse().unwrap()).unwrap_err();
        assert_eq!(
            error.message(),
            format!("id is {}; allowed: 0 to 9223372036854775807", id.as_str().unwrap())
        );
    }
}
