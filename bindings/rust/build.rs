//! Says when leafid was built: a clock that reads less is wrong.

use std::time::{SystemTime, UNIX_EPOCH};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=SOURCE_DATE_EPOCH");
    // For builds that must be the same bytes every time: reproducible-builds.org.
    let given = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let seconds: u64 = given.unwrap_or_else(now);
    println!("cargo:rustc-env=LEAFID_BUILT_DAY={}", (seconds / 86_400).max(1));
}
