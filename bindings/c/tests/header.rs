//! `include/leafid.h` is what cbindgen makes of this crate. With LEAFID_UPDATE_HEADER=1 it is written instead.

mod generated;

use std::fs;
use std::path::Path;

/// In the order in which they stand in the header.
const SOURCES: [&str; 23] = [
    "status.rs",
    "last_error.rs",
    "layout.rs",
    "id.rs",
    "text_form.rs",
    "public_ids.rs",
    "options.rs",
    "state_options.rs",
    "server_options.rs",
    "callback.rs",
    "lease.rs",
    "clock_options.rs",
    "sources.rs",
    "snowflake.rs",
    "stats.rs",
    "segments_options.rs",
    "segments_servers.rs",
    "segments_fetch.rs",
    "segments.rs",
    "tag.rs",
    "segments_stats.rs",
    "metrics.rs",
    "log.rs",
];

#[test]
fn header_is_generated() {
    let header = generated::header("LEAFID_VERSION", &SOURCES).unwrap();
    generated::check("leafid.h", &header).unwrap();
}

#[test]
fn every_exported_function_is_in_the_header() {
    let generated = generated::header("LEAFID_VERSION", &SOURCES).unwrap();
    let sources = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
    let mut seen = 0;
    for source in sources {
        let text = fs::read_to_string(source.unwrap().path()).unwrap();
        for name in text.split("extern \"C\" fn ").skip(1) {
            let name = name.split('(').next().unwrap();
            assert!(generated.contains(&format!("{name}(")), "{name} is missing: is its file in SOURCES?");
            seen += 1;
        }
    }
    assert!(seen > 60, "only {seen} functions found");
}
