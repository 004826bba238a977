//! What cbindgen makes of a crate, as a header that C89 takes: cbindgen needs C99.

use std::error::Error;
use std::fs;
use std::path::Path;

const NEWEST: &str = "__STDC_VERSION__ >= 202311L";
const DEFINED: &str = "(defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)";

/// The header of these sources, in their order, which defines its version under this name.
pub(crate) fn header(version_name: &str, sources: &[&str]) -> Result<String, Box<dyn Error>> {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = cbindgen::Config::from_file(crate_dir.join("cbindgen.toml"))?;
    let version = env!("CARGO_PKG_VERSION");
    let version = format!("\n/* The version of this header. */\n#define {version_name} \"{version}\"");
    config.after_includes.get_or_insert_default().push_str(&version);
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in sources {
        builder = builder.with_src(crate_dir.join("src").join(source));
    }
    let mut header = Vec::new();
    builder.generate()?.write(&mut header);
    Ok(c89(std::str::from_utf8(&header)?))
}

/// With comments of C89, without a comma behind the last name of an enum, and for compilers that define no version.
fn c89(header: &str) -> String {
    let header = header.replace(",\n}", "\n}");
    let lines = header.lines().map(|line| match line.split_once(" // ") {
        Some((directive, comment)) if directive.starts_with('#') => format!("{directive} /* {comment} */\n"),
        _ if line.starts_with("#if ") => format!("{}\n", line.replace(NEWEST, DEFINED)),
        _ => format!("{line}\n"),
    });
    lines.collect()
}

/// The file of this name in `include` is this header. With LEAFID_UPDATE_HEADER=1 it is written instead.
pub(crate) fn check(name: &str, header: &str) -> Result<(), Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include").join(name);
    if std::env::var_os("LEAFID_UPDATE_HEADER").is_some() {
        fs::write(&path, header)?;
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == header, "include/{name} is not what cbindgen makes: run `make header`");
    Ok(())
}
