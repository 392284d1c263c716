//! `Action` and `Script`: CGI scripts for handlers, media types and methods.

/// Scripts of a section, or of all sections of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actions {
    named: Vec<ScriptAction>,
    /// `Script`: method and path.
    methods: Vec<(String, String)>,
}

/// `Action name script [virtual]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptAction {
    /// A handler name, or a media type.
    pub name: String,
    /// URL path of the script.
    pub script: String,
    /// Whether the requested file need not exist.
    pub is_virtual: bool,
}

impl Actions {
    /// Merges the scripts of an inner section.
    pub fn merge(&mut self, inner: &Actions) {
        inner.named.iter().for_each(|action| self.add(action.clone()));
        inner.methods.iter().for_each(|(method, script)| self.add_method(method, script));
    }

    /// Adds an `Action`, which replaces one with the same name.
    pub fn add(&mut self, action: ScriptAction) {
        self.named.retain(|known| !known.name.eq_ignore_ascii_case(&action.name));
        self.named.push(action);
    }

    /// Adds a `Script`, which replaces one of the same method.
    pub fn add_method(&mut self, method: &str, script: &str) {
        self.methods.retain(|(known, _)| known != method);
        self.methods.push((method.to_owned(), script.to_owned()));
    }

    /// Whether there are no scripts.
    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.methods.is_empty()
    }

    /// The script for a handler name or a media type.
    pub fn of(&self, name: &str) -> Option<&ScriptAction> {
        self.named.iter().find(|action| action.name.eq_ignore_ascii_case(name))
    }

    /// The script for a method. As in httpd, scripts for GET and HEAD apply only to requests with a query.
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
    fn an_inner_action_replaces_an_outer_one_of_the_same_name() {
        let action = |script: &str| ScriptAction { name: "X".into(), script: script.into(), is_virtual: false };
        let mut outer = Actions { named: vec![action("/a")], methods: vec![("PUT".into(), "/p".into())] };
        outer.merge(&Actions { named: vec![action("/b")], methods: vec![("GET".into(), "/g".into())] });
        assert_eq!(outer.of("x").map(|action| action.script.as_str()), Some("/b"));
        assert_eq!(outer.of_method("PUT", false), Some("/p"));
        assert_eq!((outer.of_method("HEAD", true), outer.of_method("GET", false)), (Some("/g"), None));
    }
}
