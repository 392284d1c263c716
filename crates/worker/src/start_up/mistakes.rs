//! Errors in the site's Perl code, with their lines in the configuration.

use libperl::Interrupted;

use config::{At, ConfigError, PsgiApp, StartUp, StartUpStep};

/// Errors in the site's Perl code; one line each when displayed.
#[derive(Debug, Default)]
pub struct CodeMistakes(pub Vec<ConfigError>);

impl std::fmt::Display for CodeMistakes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        /// Bytes: the text must fit into a message to the master.
        const MAX_BYTES: usize = 64 * 1024;
        let mut text = String::new();
        for (shown, mistake) in self.0.iter().enumerate() {
            let line = mistake.to_string();
            if shown > 0 && text.len() + line.len() > MAX_BYTES {
                return write!(f, "{text}… and {} more", self.0.len() - shown);
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        f.write_str(text.trim_end())
    }
}

impl std::error::Error for CodeMistakes {}

/// The error of a failed step. In a `<Perl>` section it has the line that Perl reports.
pub fn mistake(step: &StartUp, error: &Interrupted) -> ConfigError {
    let error = without_folders(&error.to_string());
    let in_section = matches!(step.step, StartUpStep::Section { .. });
    let at = if in_section { blamed(&step.at, &error) } else { step.at.clone() };
    let error = missing(&step.step, &error).unwrap_or(error);
    let message = match directive(step) {
        Some(name) => format!("{name}: {error}"),
        None => error,
    };
    ConfigError { at: Some(at), message }
}

/// The message for a module or file that a step names and perl has not found. `None` for other errors, also for those
/// of a module that the named module loads.
fn missing(step: &StartUpStep, error: &str) -> Option<String> {
    use StartUpStep::{ConfigRequire, HandlerModule, LoadModule, Module, PostConfigRequire, Require};
    let (what, advice) = match step {
        Module(name) | LoadModule(name) | HandlerModule { module: name, .. } => {
            (format!("{}.pm in @INC", name.replace("::", "/")), "correct the name, or add its folder with PerlLib")
        }
        Require(file) | ConfigRequire(file) | PostConfigRequire(file) => {
            (file.display().to_string(), "correct the path, which starts at ServerRoot if it is relative")
        }
        _ => return None,
    };
    // The rest is the line of the server's own `require`.
    let (_, rest) = error.split_once(&format!("Can't locate {what}"))?;
    let hint = rest.split_once(" at ").map_or(rest, |(hint, _)| hint);
    Some(format!("Can't locate {what}{hint}; {advice}"))
}

/// Removes perl's list of all folders of `@INC`, which hides the rest of the message.
pub fn without_folders(error: &str) -> String {
    let mut short = error.to_owned();
    for list in [" (@INC contains:", " (@INC entries checked:"] {
        while let Some(begin) = short.find(list) {
            let Some(length) = short[begin..].find(')') else { break };
            short.replace_range(begin..=begin + length, "");
        }
    }
    short
}

/// The directive that the error of a step must name. `None`: perl's error has the file and line, or the step is an
/// option of the command line.
fn directive(step: &StartUp) -> Option<&str> {
    match &step.step {
        StartUpStep::Section { .. } => Some("<Perl>"),
        StartUpStep::Module(_) => Some("PerlModule"),
        StartUpStep::LoadModule(_) => Some("PerlLoadModule"),
        StartUpStep::Require(_) => Some("PerlRequire"),
        StartUpStep::ConfigRequire(_) => Some("PerlConfigRequire"),
        StartUpStep::PostConfigRequire(_) => Some("PerlPostConfigRequire"),
        StartUpStep::HandlerModule { directive, .. } => Some(directive),
        StartUpStep::Psgi(_) if step.at.line == 0 => None,
        StartUpStep::Psgi(PsgiApp::File(_)) => Some("PsgiApp"),
        StartUpStep::Psgi(PsgiApp::Code(_)) => Some("PsgiEval"),
        _ => None,
    }
}

/// The line of `begin`'s file that the Perl error names; `begin` for an error without a line.
pub fn blamed(begin: &At, error: &str) -> At {
    let named = error.split_once(&format!(" at {} line ", begin.file)).map(|(_, rest)| rest);
    let digits = named.and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
    let line = digits.and_then(|digits| digits.parse().ok()).unwrap_or(begin.line);
    At { line, ..begin.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_all_folders_is_removed_from_messages() {
        for list in ["@INC contains: /a /b", "@INC entries checked: /a /b"] {
            let message =
                format!("Can't locate A.pm in @INC (you may need to install the A module) ({list}) at x line 1.\n");
            let short = "Can't locate A.pm in @INC (you may need to install the A module) at x line 1.\n";
            assert_eq!(without_folders(&message), short);
        }
        assert_eq!(without_folders("died (@INC contains: without an end"), "died (@INC contains: without an end");
    }
}
