//! What the master sends to front and mold, so that each builds the same [`Config`].

use serde::{Deserialize, Serialize};

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
