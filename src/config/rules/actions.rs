//! `Action` and `Script`: CGI scripts that answer for handlers, media types and methods.

use super::super::draft::Draft;

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
    name: String,
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

    fn add(&mut self, action: Action) {
        self.named.retain(|known| !known.name.eq_ignore_ascii_case(&action.name));
        self.named.push(action);
    }

    fn add_method(&mut self, method: &str, script: &str) {
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

/// `Action name script [virtual]`
pub fn action(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [name, script, rest @ ..] = args else { return Ok(()) };
    let is_virtual = match rest {
        [] => false,
        [word] if word.eq_ignore_ascii_case("virtual") => true,
        _ => return Err(format!("expected `virtual` after the script, got \"{}\"", rest.join(" "))),
    };
    mention_path(draft, script);
    draft.said().rules.actions.add(Action { name: name.clone(), script: script.clone(), is_virtual });
    Ok(())
}

/// `Script method script`
pub fn script(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [method, script] = args else { return Ok(()) };
    if method.bytes().any(|byte| !byte.is_ascii_alphabetic()) {
        return Err(format!("expected a method like GET or PUT, got \"{method}\""));
    }
    mention_path(draft, script);
    draft.said().rules.actions.add_method(&method.to_ascii_uppercase(), script);
    Ok(())
}

fn mention_path(draft: &mut Draft, script: &str) {
    if !script.starts_with('/') {
        draft.warn(&format!("\"{script}\" is no path on this server, and requests for it fail: begin it with /"));
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
