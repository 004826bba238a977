//! `include/leafid.h` is what cbindgen makes of this crate. With LEAFID_UPDATE_HEADER=1 it is written instead.

mod c89;

use std::error::Error;
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

fn generated() -> Result<String, Box<dyn Error>> {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = cbindgen::Config::from_file(crate_dir.join("cbindgen.toml"))?;
    let version = format!(
        "\n/* The version of this header. */\n#define LEAFID_VERSION \"{}\"",
        env!("CARGO_PKG_VERSION")
    );
    config.after_includes.get_or_insert_default().push_str(&version);
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in SOURCES {
        builder = builder.with_src(crate_dir.join("src").join(source));
    }
    let mut header = Vec::new();
    builder.generate()?.write(&mut header);
    Ok(c89::c89(std::str::from_utf8(&header)?))
}

#[test]
fn header_is_generated() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/leafid.h");
    let generated = generated().unwrap();
    if std::env::var_os("LEAFID_UPDATE_HEADER").is_some() {
        fs::write(&path, &generated).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == generated, "include/leafid.h is not what cbindgen makes: run `make header`");
}

#[test]
fn every_exported_function_is_in_the_header() {
    let generated = generated().unwrap();
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
