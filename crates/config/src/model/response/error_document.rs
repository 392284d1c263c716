//! `ErrorDocument status answer`

use super::expr::ExprText;
use crate::syntax::pattern::Budget;

/// Response in place of an error's plain page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorDocument {
    /// `default`: the plain page, even if an outer section sets another.
    Default,
    /// A text that is sent as the page.
    Text(ExprText),
    /// A URL path with its query. Its response is sent with the error's status.
    Local(ExprText),
    /// A redirection to this URL.
    Away(ExprText),
}

impl ErrorDocument {
    /// The meaning of the second argument, a text of expressions. As in httpd, the kind depends on the text as written.
    pub fn parse(answer: &str, budget: &mut Budget) -> Result<ErrorDocument, String> {
        let is_url = |text: &str| text.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme));
        let mut parsed = |text: &str| ExprText::parse(text, budget);
        Ok(match answer {
            text if text.eq_ignore_ascii_case("default") => ErrorDocument::Default,
            path if path.starts_with('/') && !path.contains(char::is_whitespace) => ErrorDocument::Local(parsed(path)?),
            url if is_url(url) && !url.contains(char::is_whitespace) => ErrorDocument::Away(parsed(url)?),
            text => ErrorDocument::Text(parsed(text.strip_prefix('"').unwrap_or(text))?),
        })
    }
}

fn is_scheme(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

#[cfg(test)]
mod tests {
    use super::ErrorDocument::{self, *};
    use super::ExprText;
    use crate::syntax::pattern::Budget;

    fn text(text: &str) -> ExprText {
        ExprText::parse(text, &mut Budget::of_htaccess()).expect(text)
    }

    #[test]
    fn the_form_of_the_argument_determines_its_kind() {
        for (answer, expected) in [
            ("default", Default),
            ("/err/404.html?x", Local(text("/err/404.html?x"))),
            ("http://example.org/sorry", Away(text("http://example.org/sorry"))),
            ("Sorry: see http://example.org/", Text(text("Sorry: see http://example.org/"))),
            ("/ is not there", Text(text("/ is not there"))),
            ("\"old style", Text(text("old style"))),
        ] {
            assert_eq!(ErrorDocument::parse(answer, &mut Budget::of_htaccess()), Ok(expected), "{answer}");
        }
    }
}
