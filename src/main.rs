//! `cameleer`: runs the command line, and prints the error.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use cameleer::cli;

fn main() -> ExitCode {
    match cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            toolkit::print_error(&cli::report(&error));
            ExitCode::from(cli::exit_code(&error))
        }
    }
}
