//! `include/leafid_core.h` is what cbindgen makes of this crate, and its numbers are those of `leafid.h`. With
//! LEAFID_UPDATE_HEADER=1 it is written instead.

#[path = "../../c/tests/c89/mod.rs"]
mod c89;

use leafid_core::Code;
use leafid_core_c::leafid_core_status;
use std::error::Error;
use std::fs;
use std::path::Path;

/// In the order in which they stand in the header.
const SOURCES: [&str; 5] = ["status.rs", "layout.rs", "id.rs", "text_form.rs", "generator.rs"];

fn generated() -> Result<String, Box<dyn Error>> {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = cbindgen::Config::from_file(crate_dir.join("cbindgen.toml"))?;
    let version = format!(
        "\n/* The version of this header. */\n#define LEAFID_CORE_VERSION \"{}\"",
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
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/leafid_core.h");
    let generated = generated().unwrap();
    if std::env::var_os("LEAFID_UPDATE_HEADER").is_some() {
        fs::write(&path, &generated).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == generated, "include/leafid_core.h is not what cbindgen makes: run `make header`");
}

#[test]
fn a_status_has_the_number_of_its_code() {
    let mut seen = 0;
    for code in Code::ALL {
        let status = leafid_core_status::from(code);
        if status != leafid_core_status::LEAFID_CORE_INTERNAL {
            assert_eq!(status as i32, code.number(), "{code:?}");
            seen += 1;
        }
    }
    assert_eq!((seen, leafid_core_status::LEAFID_CORE_INTERNAL as i32), (7, Code::Internal.number()));
}
