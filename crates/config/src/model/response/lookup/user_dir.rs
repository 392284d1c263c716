//! `UserDir`: the folders of users, `/~name/…` (httpd manual, mod_userdir).

use crate::model::merge::{keep, settings};
use crate::syntax::pattern::Pattern;

/// Where the files of a user are, or where requests for them are redirected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserFolder {
    /// The path of a folder, in which `*` stands for the user.
    Path(String),
    /// A URL, in which `*` stands for the user.
    Url(String),
    /// The name of a folder in the user's home.
    InHome(String),
}

settings! {
    /// The folders of users.
    #[derive(Clone, Default)]
    host struct UserDir {
        /// The folders, in the order in which they are tried.
        pub folders: Option<Vec<UserFolder>>, keep;
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

    /// The only folder, if neither the disk nor the system's users decide about it: `$1` is the user, `$2` the rest of
    /// the path.
    pub fn single(&self) -> Option<String> {
        match self.folders.as_deref() {
            Some([folder @ UserFolder::Path(_)]) => folder.filled("$1", "$2"),
            _ => None,
        }
    }
}

impl UserFolder {
    /// Parses an argument of `UserDir`.
    pub fn parse(text: &str) -> Result<UserFolder, String> {
        if text.contains('$') || text.matches('*').count() > 1 {
            return Err(format!("expected a path with at most one * and without $, got \"{text}\""));
        }
        match (text.starts_with('/'), text.contains("://")) {
            (true, _) => Ok(UserFolder::Path(text.to_owned())),
            (false, true) => Ok(UserFolder::Url(text.to_owned())),
            (false, false) if text.contains('*') || text.split('/').any(|part| part == "..") => Err(format!(
                "expected a folder's name without * and .., which is in the home of each user, got \"{text}\""
            )),
            (false, false) => Ok(UserFolder::InHome(text.to_owned())),
        }
    }

    /// The path or URL with `user` and `rest`; `None` for a URL that does not name the user, which has no effect in
    /// httpd, and for a folder in the home.
    pub fn filled(&self, user: &str, rest: &str) -> Option<String> {
        match self {
            // As in httpd, the end of a URL is dropped.
            UserFolder::Url(url) => url.split_once('*').map(|(before, _)| format!("{before}{user}{rest}")),
            UserFolder::Path(path) => Some(match path.split_once('*') {
                Some((before, after)) => format!("{before}{user}{after}{rest}"),
                None => format!("{}/{user}{rest}", path.trim_end_matches('/')),
            }),
            UserFolder::InHome(_) => None,
        }
    }
}

/// Several folders of users, folders in their homes, or redirects: each request chooses.
#[derive(Debug, Clone)]
pub struct UserFolders {
    /// See [`UserDir::pattern`].
    pub pattern: Pattern,
    /// In the order in which they are tried.
    pub folders: Vec<UserFolder>,
}

impl UserFolders {
    /// The name of the user and the rest of a path, if its user has a folder.
    pub fn user_of(&self, path: &str) -> Option<(String, String)> {
        let found = self.pattern.find(path)?;
        Some((found.get(1).into_owned(), found.get(2).into_owned()))
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
        let folders = UserFolders { pattern, folders: dirs.folders.clone()? };
        let (user, rest) = folders.user_of(path)?;
        folders.folders.first()?.filled(&user, &rest)
    }

    #[test]
    fn a_user_has_a_folder() {
        let of = |to: &str| {
            let folder = UserFolder::parse(to).expect("a folder");
            UserDir { folders: Some(vec![folder]), ..UserDir::default() }
        };
        for (to, path, expected) in [
            ("/users", "/~bob/a/b", Some("/users/bob/a/b")),
            ("public_html", "/~bob/a/b", None),
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
