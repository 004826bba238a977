//! Link arguments of a Node addon.

fn main() {
    napi_build::setup();
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // Without the names of its functions, as the wheel: they are a sixth of the file.
        println!("cargo:rustc-link-arg-cdylib=-Wl,--strip-all");
    }
}
