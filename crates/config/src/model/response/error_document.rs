//! `ErrorDocument status answer`

/// Response in place of an error's plain page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorDocument {
    /// `default`: the plain page, even if an outer section sets another.
    Default,
    /// A text that is sent as the page.
    Text(String),
    /// A URL path with its query. Its response is sent with the error's status.
    Local(String),
    /// A redirection to this URL.
    Away(String),
}

impl ErrorDocument {
    /// The meaning of the second argument.
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
    fn the_form_of_the_argument_determines_its_kind() {
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
