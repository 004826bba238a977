//! The error codes are those of tests/vectors/errors.json, no more and no fewer.

use crate::common::{entries, error_vectors, number, text};
use leafid_core::{Code, Error};

#[test]
fn the_table_and_the_code_agree() {
    let vectors = error_vectors();
    let table = entries(&vectors, "errors");
    for code in Code::ALL {
        let found = table.iter().filter(|entry| text(entry, "code") == code.name()).count();
        assert_eq!(found, 1, "{code:?} stands once in the table");
    }
    for entry in table {
        let code = Code::ALL.into_iter().find(|code| code.name() == text(entry, "code"));
        let code = code.unwrap_or_else(|| panic!("no code for {entry}"));
        assert_eq!(i64::from(code.number()), number(entry, "number"), "{code:?}");
        assert_eq!(Some(code.can_retry()), entry["retry"].as_bool(), "{code:?}");
        assert!(text(entry, "sentence").ends_with('.'), "{code:?}");
    }
}

#[test]
fn every_language_names_a_code_alike() {
    for entry in entries(&error_vectors(), "errors") {
        let code = text(entry, "code");
        let shouted = code.to_uppercase();
        let camel: String = code
            .split('_')
            .map(|word| word[..1].to_uppercase() + &word[1..])
            .chain(["Error".to_string()])
            .collect();
        assert_eq!(text(entry, "c"), format!("LEAFID_{shouted}"));
        assert_eq!(text(entry, "node"), format!("ERR_LEAFID_{shouted}"));
        assert_eq!(text(entry, "python"), camel);
    }
}

#[test]
fn numbers_run_from_one_and_lead_back() {
    for (at, code) in Code::ALL.into_iter().enumerate() {
        assert_eq!(code.number(), at as i32 + 1);
        assert_eq!(Code::from_number(code.number()), Some(code));
    }
    for none in [0, -1, Code::ALL.len() as i32 + 1, i32::MAX, i32::MIN] {
        assert_eq!(Code::from_number(none), None);
    }
}

#[test]
fn an_error_says_code_and_message() {
    let error = Error::invalid("worker", 1_024, "0 to 1023").context("option");
    assert_eq!(error.code(), Code::InvalidArgument);
    assert_eq!(error.to_string(), "invalid_argument: option: worker is 1024; allowed: 0 to 1023");
    let long = "é".repeat(100);
    assert_eq!(Error::invalid("name", &long, "less").message(), format!("name is {long}; allowed: less"));
    let cut = Error::invalid("name", format!("-{long}"), "less");
    assert_eq!(cut.message(), format!("name is -{}…; allowed: less", "é".repeat(99)));
    assert_eq!(format!("{error:?}"), error.to_string());
}

#[test]
fn a_long_value_is_cut_at_a_character() {
    let error = Error::invalid("name", "ä".repeat(5_000), "at most 64 bytes");
    assert!(error.message().len() < 300, "{} bytes", error.message().len());
    assert!(error.message().contains("ä…; allowed: at most 64 bytes"), "{error}");
}
