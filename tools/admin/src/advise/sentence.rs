//! A piece of advice.

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Advice {
    pub rule: &'static str,
    /// The problem and the remedy, as a sentence.
    #[serde(rename = "says")]
    pub sentence: String,
    /// The measured values.
    pub evidence: String,
    /// The configuration line to write, if the remedy is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

pub fn advice(rule: &'static str, sentence: &str, evidence: String, change: Option<String>) -> Advice {
    Advice { rule, sentence: sentence.to_owned(), evidence, change }
}
