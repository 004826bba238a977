//! Gives a module a stack that fits it: the linker's default of 1 MiB would be memory of every instance. Says when it was
//! built: a clock that reads less is wrong.

use std::time::{SystemTime, UNIX_EPOCH};

fn main() {
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        // FF1 works on a few blocks.
        let public_ids_alone = std::env::var_os("CARGO_FEATURE_SNOWFLAKE").is_none();
        let stack = if public_ids_alone { 32_768 } else { 131_072 };
        println!("cargo::rustc-link-arg-cdylib=-zstack-size={stack}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=SOURCE_DATE_EPOCH");
    let given = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let seconds: u64 = given.unwrap_or_else(now);
    println!("cargo::rustc-env=LEAFID_BUILT_DAY={}", (seconds / 86_400).max(1));
}
