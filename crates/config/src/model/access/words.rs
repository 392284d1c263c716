//! The words of a requirement, which may have expressions: `Require user %{reqenv:OWNER}`.

use crate::model::response::expr::ExprText;
use crate::syntax::pattern::Budget;
use crate::syntax::words;

/// The words after the name of a requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequireWords {
    fixed: Vec<String>,
    computed: Option<ExprText>,
}

impl RequireWords {
    /// Words, of which some may have expressions. `escaped`: values of expressions are escaped for a filter of LDAP.
    pub fn parse(words: &[String], escaped: bool, patterns: &mut Budget) -> Result<RequireWords, String> {
        let computed = match words.iter().any(|word| word.contains("%{")) {
            false => None,
            true if escaped => Some(ExprText::parse(&words.join(" "), patterns)?.escaped_for_ldap()),
            true => {
                Some(ExprText::parse(&words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "), patterns)?)
            }
        };
        Ok(RequireWords { fixed: words.to_vec(), computed })
    }

    /// Words without expressions.
    pub fn fixed(words: &[String]) -> RequireWords {
        RequireWords { fixed: words.to_vec(), computed: None }
    }

    /// The words for a request, for which `text` evaluates expressions.
    pub fn of(&self, text: &dyn Fn(&ExprText) -> String) -> Vec<String> {
        match &self.computed {
            None => self.fixed.clone(),
            Some(computed) => {
                let text = text(computed);
                words::split(&text).unwrap_or_else(|_| text.split_whitespace().map(str::to_owned).collect())
            }
        }
    }

    /// The words as one text.
    pub fn whole(&self, text: &dyn Fn(&ExprText) -> String) -> String {
        match &self.computed {
            None => self.fixed.join(" "),
            Some(computed) => text(computed),
        }
    }
}

/// A word with blanks in quotation marks, so that it stays one word.
fn quoted(word: &str) -> String {
    if word.contains(char::is_whitespace) && !word.contains("%{") { words::quote(word) } else { word.to_owned() }
}
