//! What the master sends to front and mold, so that each builds the same [`Config`].

use serde::{Deserialize, Serialize};

use super::parse::Reader;
use super::{Config, ConfigError, Directive, Facts};

/// A configuration as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    /// What was said.
    pub tree: Vec<Directive>,
    /// What else counts.
    pub facts: Facts,
}

impl Bundle {
    /// What was read and what it means, or everything that is wrong: with the text and with its meaning.
    pub fn read(reader: Reader<'_>, facts: Facts) -> Result<(Bundle, Config), Vec<ConfigError>> {
        let (tree, mut errors) = reader.into_parts();
        let bundle = Bundle { tree, facts };
        match bundle.build() {
            Ok(config) if errors.is_empty() => return Ok((bundle, config)),
            Ok(_) => {}
            // An error without a place is about what is missing; it may be in the part that could not be read.
            Err(more) if !errors.is_empty() => errors.extend(more.into_iter().filter(|error| error.at.is_some())),
            Err(more) => errors = more,
        }
        Err(errors)
    }

    /// What it means; the same in every process.
    pub fn build(&self) -> Result<Config, Vec<ConfigError>> {
        Config::build(&self.tree, &self.facts)
    }

    /// For the wire. Fails only for a ServerRoot that is not UTF-8.
    pub fn to_json(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|error| format!("the configuration cannot be sent: {error}"))
    }

    /// From the wire.
    pub fn from_json(json: &str) -> Result<Bundle, String> {
        serde_json::from_str(json).map_err(|error| format!("the configuration did not arrive: {error}"))
    }
}
