//! `UserDir`: the folders of users, `/~name/…` (httpd manual, mod_userdir).

use crate::model::merge::{keep, settings};

settings! {
    /// The folders of users.
    #[derive(Clone, Default)]
    host struct UserDir {
        /// Path or URL, in which `*` stands for the user.
        pub to: Option<String>, keep;
        /// `disabled`, without names: for all users that are not enabled.
        pub disabled: Option<bool>, keep;
        /// `enabled name…`
        pub enabled: Option<Vec<String>>, keep;
        /// `disabled name…`
        pub refused: Option<Vec<String>>, keep;
    }
}

impl UserDir {
    /// The expression for paths of users who have a folder: user and rest are its groups. `None`: nobody has one.
    pub fn pattern(&self) -> Option<String> {
        let names = |names: &Option<Vec<String>>| {
            let names = names.iter().flatten().map(|name| escaped(name));
            names.collect::<Vec<_>>().join("|")
        };
        let refused = format!("(?!(?:\\.{{1,2}}{}{})(?:/|$))", bar(&self.refused), names(&self.refused));
        let user = match (self.disabled, names(&self.enabled)) {
            (Some(true), enabled) if enabled.is_empty() => return None,
            (Some(true), enabled) => enabled,
            _ => "[^/]+".to_owned(),
        };
        Some(format!("^/~{refused}({user})((?:/.*)?)$"))
    }

    /// The path or URL with `$1` for the user and `$2` for the rest; `None` for a URL that does not name the user,
    /// which has no effect in httpd.
    pub fn target(&self) -> Option<String> {
        let to = self.to.as_deref()?;
        match (to.split_once('*'), to.contains("://")) {
            // As in httpd, the end of a URL is dropped.
            (Some((before, _)), true) => Some(format!("{before}$1$2")),
            (None, true) => None,
            (Some((before, after)), false) => Some(format!("{before}$1{after}$2")),
            (None, false) => Some(format!("{}/$1$2", to.trim_end_matches('/'))),
        }
    }

    /// Whether users are redirected to another address.
    pub fn is_redirect(&self) -> bool {
        self.to.as_deref().is_some_and(|to| to.contains("://"))
    }
}

fn bar(names: &Option<Vec<String>>) -> &'static str {
    if names.as_ref().is_some_and(|names| !names.is_empty()) { "|" } else { "" }
}

/// A name as a part of an expression.
fn escaped(name: &str) -> String {
    let escape = |c: char| if c.is_ascii_alphanumeric() { c.to_string() } else { format!("\\{c}") };
    name.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::pattern::{Budget, Case};

    fn file(dirs: &UserDir, path: &str) -> Option<String> {
        let pattern = Budget::of_the_administrator().compile(&dirs.pattern()?, Case::Exact).expect("an expression");
        let target = dirs.target()?;
        pattern.find(path)?.expand(&target, &str::to_owned, 1000).ok()
    }

    #[test]
    fn a_user_has_a_folder() {
        let of = |to: &str| UserDir { to: Some(to.to_owned()), ..UserDir::default() };
        for (to, path, expected) in [
            ("/users", "/~bob/a/b", Some("/users/bob/a/b")),
            ("/users/", "/~bob", Some("/users/bob")),
            ("/home/*/www", "/~bob/a", Some("/home/bob/www/a")),
            ("http://x.example/*/usr", "/~bob/a", Some("http://x.example/bob/a")),
            ("http://x.example/users", "/~bob/a", None),
            ("/users", "/~../a", None),
            ("/users", "/~/a", None),
            ("/users", "/a/~bob/b", None),
        ] {
            assert_eq!(file(&of(to), path).as_deref(), expected, "{to} {path}");
        }
        let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let some = UserDir { disabled: Some(true), enabled: names(&["bob", "a.b"]), ..of("/users") };
        assert_eq!((file(&some, "/~a.b/").is_some(), file(&some, "/~acb/").is_some()), (true, false));
        let others = UserDir { refused: names(&["root"]), ..of("/users") };
        assert_eq!((file(&others, "/~roots/").is_some(), file(&others, "/~root/").is_some()), (true, false));
        assert_eq!(UserDir { disabled: Some(true), ..of("/users") }.pattern(), None);
    }
}
