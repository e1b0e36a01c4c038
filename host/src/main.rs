//! The command `headsup`: a thin edge around the library.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
