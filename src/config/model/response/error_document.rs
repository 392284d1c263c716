//! `ErrorDocument status answer`

/// What is answered in place of an error's plain page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorDocument {
    /// `default`: the plain page, whatever an outer section says.
    Default,
    /// A page of this text, as it is.
    Text(String),
    /// A path of this server, with its query: what it answers, under the error's status.
    Local(String),
    /// A redirection to there.
    Away(String),
}

impl ErrorDocument {
    /// What the second word of the directive says.
    pub fn of(answer: &str) -> ErrorDocument {
        let is_url = |text: &str| text.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme));
        match answer {
            text if text.eq_ignore_ascii_case("default") => ErrorDocument::Default,
            path if path.starts_with('/') && !path.contains(char::is_whitespace) => {
                ErrorDocument::Local(path.to_owned())
            }
            url if is_url(url) && !url.contains(char::is_whitespace) => ErrorDocument::Away(url.to_owned()),
            text => ErrorDocument::Text(text.strip_prefix('"').unwrap_or(text).to_owned()),
        }
    }
}

fn is_scheme(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

#[cfg(test)]
mod tests {
    use super::ErrorDocument::{self, *};

    #[test]
    fn the_answer_tells_by_its_looks_what_it_is() {
        for (answer, expected) in [
            ("default", Default),
            ("/err/404.html?x", Local("/err/404.html?x".into())),
            ("http://example.org/sorry", Away("http://example.org/sorry".into())),
            ("Sorry: see http://example.org/", Text("Sorry: see http://example.org/".into())),
            ("/ is not there", Text("/ is not there".into())),
            ("\"old style", Text("old style".into())),
        ] {
            assert_eq!(ErrorDocument::of(answer), expected, "{answer}");
        }
    }
}
