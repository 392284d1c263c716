//! `cameleer`: parse, run, print the error, exit code.

use std::process::ExitCode;

use cameleer::cli;

fn main() -> ExitCode {
    match cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            cli::print_error(&cli::report(&error));
            ExitCode::from(cli::exit_code(&error))
        }
    }
}
