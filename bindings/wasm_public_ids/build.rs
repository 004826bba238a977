//! Gives the module a stack that fits it: the linker's default of 1 MiB would be memory of every instance.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size=32768");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
