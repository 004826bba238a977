//! Tests of refused options and their messages.

use super::super::HttpOptions;
use super::fake_server::options;
use crate::http::ServerPool;
use leafid_core::Code;
use std::path::PathBuf;

type Change = fn(&mut HttpOptions);

#[test]
fn what_is_wrong_is_named_and_what_is_allowed_too() {
    let wrong: [(Change, &str, &str); 14] = [
        (|all| all.servers.clear(), "servers is 0 URLs", "1 to 64 URLs"),
        (|all| all.servers = vec!["http://a".into(); 65], "servers is 65 URLs", "1 to 64 URLs"),
        (
            |all| all.servers.push("leaf:80".into()),
            "servers is \"leaf:80\", which begins with neither",
            "a URL such as",
        ),
        (|all| all.servers.push("http://a/".to_owned() + &"a".repeat(3_000)), "3009 bytes", "at most 2000"),
        (
            |all| all.token = Some("secret\n".into()),
            "token is a text with a control character",
            "text that is",
        ),
        (|all| all.token = Some(String::new()), "token is empty", "text that is not empty"),
        (
            |all| all.headers = vec![("a b".into(), "1".into())],
            "headers is a name of 3 bytes",
            "names of letters",
        ),
        (
            |all| all.headers = vec![("A".into(), "secret\0".into())],
            "headers is \"A\"",
            "without control characters",
        ),
        (|all| all.headers = vec![("HOST".into(), "x".into())], "headers is \"HOST\"", "other names than"),
        (|all| all.headers = vec![("a".into(), "x".into()), ("A".into(), "x".into())], "is \"A\"", "once"),
        (|all| all.headers = vec![("a".into(), "x".repeat(9_000))], "headers is 9001 bytes", "at most 8192"),
        (|all| all.ca_file = Some("/no/such/file".into()), "ca_file is \"/no/such/file\": ", "PEM file"),
        (|all| all.connections = 0, "connections is 0", "1 to 64"),
        (|all| all.connections = 65, "connections is 65", "1 to 64"),
    ];
    for (change, value, allowed) in wrong {
        let mut options = options(&["http://127.0.0.1:1".into()]);
        change(&mut options);
        let error = ServerPool::new(options).err().unwrap();
        assert_eq!(error.code(), Code::InvalidArgument, "{value}");
        assert!(error.message().contains(value) && error.message().contains(allowed), "{value}: {error}");
        assert!(!error.message().contains("secret"), "{error}");
    }
    let mut both = options(&["http://127.0.0.1:1".into()]);
    (both.token, both.headers) = (Some("a".into()), vec![("authorization".into(), "b".into())]);
    let error = ServerPool::new(both).err().unwrap();
    assert!(error.message().contains("no Authorization besides `token`"), "{error}");
}

#[test]
fn a_ca_file_without_a_certificate() {
    let place = tempfile::tempdir().unwrap();
    for (text, said) in [
        ("", "there is no certificate in it"),
        ("-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n", "PEM file of certificates"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "PEM file of certificates"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n", "PEM file of certificates"),
    ] {
        let path: PathBuf = place.path().join("ca.pem");
        std::fs::write(&path, text).unwrap();
        let mut options = options(&["http://127.0.0.1:1".into()]);
        options.ca_file = Some(path);
        let error = ServerPool::new(options).err().unwrap();
        assert_eq!(error.code(), Code::InvalidArgument, "{text}");
        assert!(error.message().contains(said), "{text}: {error}");
    }
}
