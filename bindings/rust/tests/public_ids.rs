//! The key of public ids from an environment variable and from files, and the command line.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used)]

mod common;

use common::programs::command;
use leafid::{Code, PublicIds, TextForm, load_public_id_key};
use serde_json::Value;
use std::fs;
use std::process::Output;

const NAME: &str = "LEAFID_TEST_PUBLIC_ID_KEY";

/// The key, the version and the rows of one key.
fn vectors() -> (String, u32, Vec<Value>) {
    let all: Value = serde_json::from_str(include_str!("../../../tests/vectors/public_ids.json")).unwrap();
    let rows = all["valid"].as_array().unwrap().iter().filter(|row| row["version"] == 1).cloned();
    let rows: Vec<Value> = rows.collect();
    (rows[0]["key"].as_str().unwrap().to_owned(), 1, rows)
}

fn run(key: &str, arguments: &[&str]) -> Output {
    let mut command = command(env!("CARGO_BIN_EXE_leafid"));
    command.env(NAME, key).args(arguments).args(["--key", &format!("env:{NAME}"), "--key-version", "1"]);
    command.output().unwrap()
}

#[test]
fn a_key_is_read_from_a_file() {
    let (key, version, rows) = vectors();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("key");
    let source = format!("file:{}", path.display());
    for text in [key.clone(), format!("{key}\n"), format!("  {}\r\n", key.to_uppercase())] {
        fs::write(&path, text).unwrap();
        let ids = PublicIds::new(load_public_id_key(&source).unwrap(), version).unwrap();
        for row in &rows {
            let id: i64 = row["id"].as_str().unwrap().parse().unwrap();
            assert_eq!(ids.encrypt(id).unwrap().to_string(), row["public_id"].as_str().unwrap());
        }
    }
    for wrong in [b"".to_vec(), b"ab".to_vec(), vec![b'a'; 1 << 20], b"\xff\xfe".repeat(16), vec![0; 32]] {
        fs::write(&path, wrong).unwrap();
        let error = load_public_id_key(&source).unwrap_err();
        let expected = format!(
            "key is {source}, which holds another text; allowed: \"env:NAME\", an environment variable, or \
             \"file:PATH\", either with 32, 48 or 64 hexadecimal digits"
        );
        assert_eq!((error.code(), error.message()), (Code::InvalidArgument, expected.as_str()));
    }
    fs::remove_file(&path).unwrap();
    let error = load_public_id_key(&source).unwrap_err();
    assert!(error.message().contains("which cannot be read: "), "{error}");
}

#[test]
fn what_may_be_a_key_is_not_shown() {
    let key = vectors().0;
    let sources = [key.clone(), format!("ENV:{key}"), format!(" env:{key}"), String::new()];
    for source in &sources {
        let error = load_public_id_key(source).unwrap_err();
        let length = source.chars().count();
        assert!(error.message().starts_with(&format!("key is a text of {length} characters; allowed: ")));
        assert!(!error.message().contains(&key[..8]), "{error}");
    }
    let pairs: Vec<&str> = (0..key.len()).step_by(2).map(|at| &key[at..at + 2]).collect();
    let wrong_letters = format!("{}x{}y{}", &key[..10], &key[11..20], &key[21..]);
    let nearly = [key[1..].to_owned(), format!("{key}0 "), format!("0x{key}"), format!("\"{key}")];
    let nearly = nearly.into_iter().chain([pairs.join(":"), wrong_letters]);
    for name in nearly.chain([key.clone()]) {
        for kind in ["env", "file"] {
            let error = load_public_id_key(&format!("{kind}:{name}")).unwrap_err();
            let shown = format!("key is {kind}:a text of {} characters, which ", name.chars().count());
            assert!(
                error.message().starts_with(&shown) && !error.message().contains(&name[3..10]),
                "{error}"
            );
        }
    }
    for source in ["env:", "env:LEAFID_TEST_NOT_SET", "file:", "file:/", "file:0123456789abcdef/key"] {
        let error = load_public_id_key(source).unwrap_err();
        assert!(error.message().starts_with(&format!("key is {source}, which ")), "{error}");
    }
    let output = run(&key[1..], &["encrypt", "1"]);
    assert_eq!(output.status.code(), Some(1));
    let complaint = String::from_utf8(output.stderr).unwrap();
    let expected =
        format!("leafid: invalid_argument: key is env:{NAME}, which holds another text; allowed: ");
    assert!(complaint.starts_with(&expected) && !complaint.contains(&key[1..9]), "{complaint}");
}

#[test]
fn the_command_line_encrypts_and_decrypts() {
    let (key, _, rows) = vectors();
    let column = |name: &str| rows.iter().map(|row| row[name].as_str().unwrap()).collect::<Vec<_>>();
    let ids = column("id");
    for form in [None, Some(TextForm::Base32), Some(TextForm::Base62)] {
        let public_ids = column(form.map_or("public_id", TextForm::name));
        let form = form.map_or(vec![], |form| vec!["--form", form.name()]);
        for (command, given, expected) in [("encrypt", &ids, &public_ids), ("decrypt", &public_ids, &ids)] {
            let output = run(&key, &[&[command], &form[..], &given[..]].concat());
            assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
            assert_eq!(String::from_utf8(output.stdout).unwrap().lines().collect::<Vec<_>>(), *expected);
        }
    }
    let output = run(&key, &["encrypt", "0", "1", "-1", "x"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), rows[0]["public_id"].as_str().unwrap());
    assert_eq!(String::from_utf8(output.stderr).unwrap().lines().count(), 3);
}
