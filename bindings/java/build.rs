//! Link arguments of the library.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // Threads of leafid may run when the class loader that loaded it has gone.
        println!("cargo:rustc-link-arg-cdylib=-Wl,-z,nodelete");
        println!("cargo:rustc-link-arg-cdylib=-Wl,--strip-all");
    }
}
