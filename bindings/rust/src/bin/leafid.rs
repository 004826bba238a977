//! The program `leafid`, as cargo installs it.

fn main() {
    std::process::exit(leafid::cli::main(std::env::args_os().skip(1)))
}
