//! `Action` and `Script`: CGI scripts that answer for handlers, media types and methods.

/// What sections said about scripts that answer for others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actions {
    named: Vec<Action>,
    /// `Script`: method and path.
    methods: Vec<(String, String)>,
}

/// `Action name script [virtual]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// Of a handler, or a media type.
    pub name: String,
    /// The script's path on this server.
    pub script: String,
    /// The path that was asked for need not be that of a file.
    pub is_virtual: bool,
}

impl Actions {
    /// Merges what an inner section says.
    pub fn merge(&mut self, inner: &Actions) {
        inner.named.iter().for_each(|action| self.add(action.clone()));
        inner.methods.iter().for_each(|(method, script)| self.add_method(method, script));
    }

    /// `Action`; one of a name replaces the one before.
    pub fn add(&mut self, action: Action) {
        self.named.retain(|known| !known.name.eq_ignore_ascii_case(&action.name));
        self.named.push(action);
    }

    /// `Script`; one of a method replaces the one before.
    pub fn add_method(&mut self, method: &str, script: &str) {
        self.methods.retain(|(known, _)| known != method);
        self.methods.push((method.to_owned(), script.to_owned()));
    }

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.methods.is_empty()
    }

    /// What answers for a handler or a media type.
    pub fn of(&self, name: &str) -> Option<&Action> {
        self.named.iter().find(|action| action.name.eq_ignore_ascii_case(name))
    }

    /// The script that answers for a method; as in httpd, for GET and HEAD only where there is a query.
    pub fn of_method(&self, method: &str, has_query: bool) -> Option<&str> {
        let method = if method == "HEAD" { "GET" } else { method };
        let script = self.methods.iter().find(|(known, _)| known == method).map(|(_, script)| script.as_str());
        script.filter(|_| method != "GET" || has_query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_sections_replace_what_outer_ones_said_of_a_name() {
        let action = |script: &str| Action { name: "X".into(), script: script.into(), is_virtual: false };
        let mut outer = Actions { named: vec![action("/a")], methods: vec![("PUT".into(), "/p".into())] };
        outer.merge(&Actions { named: vec![action("/b")], methods: vec![("GET".into(), "/g".into())] });
        assert_eq!(outer.of("x").map(|action| action.script.as_str()), Some("/b"));
        assert_eq!(outer.of_method("PUT", false), Some("/p"));
        assert_eq!((outer.of_method("HEAD", true), outer.of_method("GET", false)), (Some("/g"), None));
    }
}
