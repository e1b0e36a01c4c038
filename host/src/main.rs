//! The command `headsup`: a thin edge around the library.

mod cli;
mod config;

fn main() -> std::process::ExitCode {
    cli::run()
}
