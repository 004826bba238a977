//! Builds the core's sources with loom's atomics.

fn main() {
    println!("cargo::rustc-cfg=leafid_loom");
}
