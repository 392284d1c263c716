//! Errors in the site's Perl code, with their lines in the configuration.

use libperl::Interrupted;

use config::{At, ConfigError, StartUp, StartUpStep};

/// Errors in the site's Perl code; one line each when displayed.
#[derive(Debug, Default)]
pub struct CodeMistakes(pub Vec<ConfigError>);

impl std::fmt::Display for CodeMistakes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        /// Bytes: the text must fit into a message to the master.
        const LONGEST: usize = 64 * 1024;
        let mut text = String::new();
        for (said, mistake) in self.0.iter().enumerate() {
            let line = mistake.to_string();
            if said > 0 && text.len() + line.len() > LONGEST {
                return write!(f, "{text}… and {} more", self.0.len() - said);
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
    let in_section = matches!(step.step, StartUpStep::Section { .. });
    let at = if in_section { blamed(&step.at, &error.to_string()) } else { step.at.clone() };
    let message = directive(&step.step).map_or(error.to_string(), |name| format!("{name}: {error}"));
    let message = if is_missing(&step.step, &message) {
        format!("{}: correct the name, or add its folder with PerlLib", message.trim_end().trim_end_matches('.'))
    } else {
        message
    };
    ConfigError { at: Some(at), message }
}

/// Whether perl has not found the module that a step names, rather than one that the module itself loads.
fn is_missing(step: &StartUpStep, error: &str) -> bool {
    use StartUpStep::{HandlerModule, LoadModule, Module};
    let (Module(name) | HandlerModule(name) | LoadModule(name)) = step else { return false };
    error.contains(&format!("Can't locate {}.pm in @INC", name.replace("::", "/")))
}

/// The directive that the error of a step must name. `None`: the error names the file or the handler itself.
fn directive(step: &StartUpStep) -> Option<&'static str> {
    match step {
        StartUpStep::Section { .. } => Some("<Perl>"),
        StartUpStep::Module(_) => Some("PerlModule"),
        StartUpStep::LoadModule(_) => Some("PerlLoadModule"),
        StartUpStep::Require(_) => Some("PerlRequire"),
        StartUpStep::ConfigRequire(_) => Some("PerlConfigRequire"),
        StartUpStep::PostConfigRequire(_) => Some("PerlPostConfigRequire"),
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
