//! Link flags of the shared library: its SONAME, or on macOS its install name. On Linux also `-z nodelete`: if the library
//! were unloaded, the host's background thread and fork handler would have no code.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libleafid.so.0");
            println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
        }
        Ok("macos") => println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libleafid.0.dylib"),
        _ => {}
    }
}
