//! Gives a module a stack that fits it: the linker's default of 1 MiB would be memory of every instance.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        // FF1 works on a few blocks.
        let public_ids_alone = std::env::var_os("CARGO_FEATURE_SNOWFLAKE").is_none();
        let stack = if public_ids_alone { 32_768 } else { 131_072 };
        println!("cargo::rustc-link-arg-cdylib=-zstack-size={stack}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
