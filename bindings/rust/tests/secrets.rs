//! No output shows a password, whatever option it was written into.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;
#[cfg(feature = "cli")]
use common::programs::command;
use leafid::{Code, Segments, Snowflake, Worker};
use serde_json::Value;

/// The marker, and the forms of URLs of a scheme that hold it in a password.
fn urls(scheme: &str) -> (String, Vec<String>) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/secrets.json");
    let vector: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let form = |url: &Value| url.as_str().unwrap().replace("SCHEME", scheme).replace("HOST", "127.0.0.1:1");
    let urls = vector["urls"].as_array().unwrap().iter().map(form).collect();
    (vector["marker"].as_str().unwrap().to_owned(), urls)
}

#[test]
fn no_error_and_no_debug_text_shows_a_password() {
    let place = Place::new();
    for scheme in ["http", "HTTPS", "mysql"] {
        let (marker, urls) = urls(scheme);
        for url in urls {
            let worker = |worker: Worker| place.builder().worker(worker);
            let builders = [
                worker(url.as_str().into()),
                worker(vec![url.clone()].into()),
                worker(vec!["http://127.0.0.1:1", &url].into()),
                worker(7.into()).token(&url).headers([("x-key", &url)]),
                worker("http://127.0.0.1:1".into()).headers([(&url, "x")]),
                worker("http://127.0.0.1:1".into()).headers([("x-key", format!("{url}\n"))]),
                worker("http://127.0.0.1:1".into()).token(format!("{url}\n")),
            ];
            for builder in builders {
                let shown = format!("{builder:?}");
                let error = builder.open().map(|_: Snowflake| ()).unwrap_err();
                let said = format!("{shown} {error} {error:?}");
                assert_eq!(error.code(), Code::InvalidArgument, "{url}: {error}");
                assert!(!said.contains(&marker), "{url}: {said}");
            }
            let error = worker(7.into()).name(&url).open().unwrap_err();
            assert!(!error.to_string().contains(&marker), "{url}: {error}");
            let segments = || Segments::builder().name(&place.name).state_dir(place.dir.path());
            for builder in [
                segments().servers([&url]),
                segments().servers(["http://127.0.0.1:1", &url]),
                segments().servers(["file:/nowhere", &url]),
                segments().servers(["http://127.0.0.1:1"]).token(format!("{url}\n")),
                segments().servers(["file:/nowhere"]).token(&url),
            ] {
                let shown = format!("{builder:?}");
                let Err(error) = builder.open() else { continue };
                let said = format!("{shown} {error} {error:?}");
                assert!(!said.contains(&marker), "{url}: {said}");
            }
        }
    }
}

#[test]
#[cfg(feature = "cli")]
fn no_command_shows_a_password() {
    let place = Place::new();
    let dir = place.dir.path().to_str().unwrap();
    let (marker, urls) = urls("https");
    for url in urls {
        let words: [&[&str]; 10] = [
            &["next", "--worker", &url],
            &["next", "--worker", "7", "--name", &url],
            &["next", "--tag", "order", "--server", &url],
            &["next", "--tag", "order", "--server", "http://127.0.0.1:1", "--protocol", &url],
            &["next", "-n", &url],
            &["check", &url],
            &["check", "--worker", &url],
            &["check", "--worker", "7", "--against", &url],
            &["watch", "--count", "1", "--metrics", &url],
            &["decode", &url],
        ];
        for words in words {
            let mut program = command(env!("CARGO_BIN_EXE_leafid"));
            let output = program.args(words).env("LEAFID_STATE_DIR", dir).output().unwrap();
            let said = format!("{output:?}");
            assert!(!said.contains(&marker), "{words:?}: {said}");
        }
        let mut program = command(env!("CARGO_BIN_EXE_leafid"));
        let output =
            program.arg("check").env("LEAFID_STATE_DIR", dir).env("LEAFID_WORKER", &url).output().unwrap();
        assert!(!format!("{output:?}").contains(&marker), "LEAFID_WORKER={url}: {output:?}");
    }
}
