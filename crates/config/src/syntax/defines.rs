//! `Define`, `UnDefine`, `-D` and `${NAME}`.

use std::collections::HashMap;

/// Defined names while a configuration is read.
pub struct Defines<'a> {
    defined: HashMap<String, Option<String>>,
    env: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> Defines<'a> {
    /// `names` come from `-D`. `env` returns environment variables for names that are not defined.
    pub fn new(names: &[String], env: &'a dyn Fn(&str) -> Option<String>) -> Self {
        let defined = names.iter().map(|name| (name.clone(), None)).collect();
        Defines { defined, env }
    }

    /// `Define name [value]`
    pub fn define(&mut self, name: &str, value: Option<&String>) {
        self.defined.insert(name.to_owned(), value.cloned());
    }

    /// `UnDefine name`
    pub fn undefine(&mut self, name: &str) {
        self.defined.remove(name);
    }

    /// All definitions, sorted by name.
    pub fn defined(&self) -> Vec<(String, Option<String>)> {
        let mut defined: Vec<_> = self.defined.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        defined.sort();
        defined
    }

    /// Whether a name is defined: the condition of `<IfDefine name>`.
    pub fn is_defined(&self, name: &str) -> bool {
        self.defined.contains_key(name)
    }

    /// Replaces every `${NAME}` of a line. As in httpd, one without a value stays as it is.
    pub fn replace(&self, line: &str) -> String {
        let mut out = String::with_capacity(line.len());
        let mut rest = line;
        while let Some((before, name, after)) = next_variable(rest) {
            out.push_str(before);
            match self.value(name) {
                Some(value) => out.push_str(&value),
                None => out.push_str(&format!("${{{name}}}")),
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }

    fn value(&self, name: &str) -> Option<String> {
        self.defined.get(name).cloned().flatten().or_else(|| (self.env)(name))
    }
}

/// The first name in `${NAME}`. `${map:key}` is a lookup of RewriteMap, and `${1}` no name.
pub fn unknown_name(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some((_, name, after)) = next_variable(rest) {
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if begins && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Some(name);
        }
        rest = after;
    }
    None
}

/// Message about a name without a value.
pub fn without_value(name: &str) -> String {
    format!("${{{name}}} has no value; write `Define {name} value` above this line, or set it in the environment")
}

fn next_variable(text: &str) -> Option<(&str, &str, &str)> {
    let (before, from) = text.split_once("${")?;
    let (name, after) = from.split_once('}')?;
    Some((before, name, after))
}
