//! The scenarios of `tests/scenarios`, played against the machines on virtual time. Its README says what each word
//! means.

mod actor;
mod disk;
mod flakes;
mod http;
mod play;
mod supplies;
mod words;

use serde_json::Value;
use std::path::{Path, PathBuf};

fn folder(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios").join(kind)
}

/// Those of one file. SCENARIO has a part of the name of those to play.
fn plays(kind: &str, theme: &str) {
    let path = folder(kind).join(theme).with_extension("json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let only = std::env::var("SCENARIO").unwrap_or_default();
    play::file(&file, kind == "api", &only);
}

macro_rules! themes {
    ($($kind:ident: $($theme:ident)*;)*) => {
        $(mod $kind {
            $(#[test]
            fn $theme() {
                super::plays(stringify!($kind), stringify!($theme));
            })*
        })*

        #[test]
        fn each_file_is_played() {
            for (kind, themes) in [$((stringify!($kind), &[$(stringify!($theme)),*][..])),*] {
                let files = std::fs::read_dir(folder(kind)).unwrap().map(|entry| entry.unwrap().path());
                let mut found: Vec<_> = files.map(|path| path.file_stem().unwrap().to_owned()).collect();
                found.sort();
                assert_eq!(found, themes, "{kind}");
            }
        }
    };
}

themes! {
    api: clocks lease_losses lease_servers leases marks records segments servers sources;
    machine: claims closes fetches renewals shared_leases;
}

/// What a scenario says and the one who plays it does not read would prove nothing.
#[test]
fn what_is_no_word_is_refused() {
    let refused = |step: Value| {
        let scenario = serde_json::json!({"name": "of a step", "steps": [step]});
        let file = serde_json::json!({"about": "", "of": "segments", "scenarios": [scenario]});
        std::panic::catch_unwind(|| play::file(&file, true, "")).is_err()
    };
    let open = serde_json::json!({"open": "a", "options": {"fetch": "<function>"}});
    assert!(!refused(open.clone()));
    let with = |name: &str, value: Value| {
        let mut step = open.clone();
        step[name] = value;
        step
    };
    assert!(refused(with("wroker_id", 7.into())));
    assert!(refused(with("options", serde_json::json!({"fetch": "<function>", "stpe": 7}))));
    assert!(refused(serde_json::json!({"opne": "a"})));
    assert!(refused(with("pass_ms", 7.into())), "two things in one step");
}
