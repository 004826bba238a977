//! The program `leafid-server`.

fn main() -> std::process::ExitCode {
    leafid_server::main(std::env::args_os())
}
