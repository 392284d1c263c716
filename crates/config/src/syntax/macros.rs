//! `<Macro>`, `Use` and `UndefMacro` (httpd manual, mod_macro).

use std::collections::HashMap;

use crate::syntax::tree::At;
use crate::syntax::words;

/// Maximum number of bytes of all uses of macros together: macros that use macros multiply.
const MAX_BYTES: usize = 16 << 20;

/// The macros that are defined while a configuration is read.
#[derive(Default)]
pub struct Macros {
    /// By name in lower case.
    defined: HashMap<String, Macro>,
    /// Names in lower case of the macros that are being used, the innermost last.
    using: Vec<String>,
    /// Bytes of all uses so far.
    used_bytes: usize,
}

struct Macro {
    /// The names of the parameters, each with its prefix.
    parameters: Vec<String>,
    text: String,
    at: At,
}

impl Macros {
    /// `<Macro name parameter…>` with its lines. `words` are name and parameters.
    pub fn define(&mut self, words: &[String], text: String, at: &At) -> Result<(), String> {
        let Some((name, parameters)) = words.split_first() else {
            return Err("<Macro>: expected a name, and optionally names of parameters".to_owned());
        };
        for (index, parameter) in parameters.iter().enumerate() {
            if parameters.iter().take(index).any(|known| known == parameter) {
                return Err(format!("<Macro {name}>: the parameter {parameter} occurs twice; rename one"));
            }
            if parameter.is_empty() {
                return Err(format!("<Macro {name}>: a parameter has no name; remove the empty quotation marks"));
            }
        }
        let (parameters, at) = (parameters.to_vec(), at.clone());
        self.defined.insert(name.to_ascii_lowercase(), Macro { parameters, text, at });
        Ok(())
    }

    /// `UndefMacro name`
    pub fn undefine(&mut self, name: &str) -> Result<(), String> {
        let removed = self.defined.remove(&name.to_ascii_lowercase());
        removed.map(drop).ok_or_else(|| undefined("UndefMacro", name))
    }

    /// Begins `Use name value…`: the lines of the macro, with the values for its parameters. [`Macros::end`] ends it.
    pub fn begin(&mut self, name: &str, values: &[String]) -> Result<String, String> {
        let lower = name.to_ascii_lowercase();
        let found = self.defined.get(&lower).ok_or_else(|| undefined("Use", name))?;
        if found.parameters.len() != values.len() {
            return Err(format!(
                "Use: the macro {name}, defined at {}, takes {} values, got {}",
                found.at,
                found.parameters.len(),
                values.len()
            ));
        }
        if self.using.contains(&lower) {
            return Err(format!("Use: the macro {name}, defined at {}, uses itself; remove that Use line", found.at));
        }
        let text = found.expand(values, MAX_BYTES.saturating_sub(self.used_bytes));
        let text = text.ok_or_else(|| format!("Use: the macros of the configuration exceed {} MB", MAX_BYTES >> 20))?;
        self.used_bytes += text.len();
        self.using.push(lower);
        Ok(text)
    }

    /// Ends the innermost use.
    pub fn end(&mut self) {
        self.using.pop();
    }
}

fn undefined(directive: &str, name: &str) -> String {
    format!("{directive}: there is no macro {name}; write <Macro {name}> above this line")
}

impl Macro {
    /// The text with the values; `None` if it exceeds `most` bytes.
    fn expand(&self, values: &[String], most: usize) -> Option<String> {
        let mut expanded = String::new();
        let mut rest = self.text.as_str();
        while let Some((at, parameter, value)) = self.next(rest, values) {
            let (before, from) = rest.split_at_checked(at)?;
            expanded.push_str(before);
            // As in httpd, the value of a parameter that begins with @ is quoted.
            match parameter.starts_with('@') {
                true => expanded.push_str(&words::quote(value)),
                false => expanded.push_str(value),
            }
            if expanded.len() > most {
                return None;
            }
            rest = from.get(parameter.len()..)?;
        }
        expanded.push_str(rest);
        (expanded.len() <= most).then_some(expanded)
    }

    /// The first parameter in `text`, with its position and its value; of several at one position the longest.
    fn next<'a>(&'a self, text: &str, values: &'a [String]) -> Option<(usize, &'a str, &'a str)> {
        let found = self.parameters.iter().zip(values);
        let found = found.filter_map(|(name, value)| Some((text.find(name.as_str())?, name.as_str(), value.as_str())));
        found.min_by_key(|(at, name, _)| (*at, usize::MAX - name.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(macros: &mut Macros, name: &str, values: &[&str]) -> Result<String, String> {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        let text = macros.begin(name, &values);
        text.inspect(|_| macros.end())
    }

    fn define(macros: &mut Macros, words: &str, text: &str) -> Result<(), String> {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        macros.define(&words, text.to_owned(), &At { file: "c".into(), line: 1 })
    }

    #[test]
    fn values_replace_parameters_once() {
        let mut macros = Macros::default();
        define(&mut macros, "M $a $ab @c", "$a $ab @c $abc").expect("a macro");
        assert_eq!(used(&mut macros, "m", &["$ab", "2", "x \"y\""]).as_deref(), Ok("$ab 2 \"x \\\"y\\\"\" 2c"));
    }

    #[test]
    fn mistakes_are_named() {
        let mut macros = Macros::default();
        define(&mut macros, "M $a", "$a").expect("a macro");
        assert_eq!(used(&mut macros, "M", &[]).unwrap_err(), "Use: the macro M, defined at c:1, takes 1 values, got 0");
        assert!(used(&mut macros, "N", &[]).unwrap_err().contains("there is no macro N"));
        macros.begin("M", &["x".to_owned()]).expect("in use");
        assert!(macros.begin("M", &["x".to_owned()]).unwrap_err().contains("uses itself; remove that Use line"));
        assert!(define(&mut macros, "D $a $a", "").is_err());
        assert!(macros.undefine("M").is_ok() && macros.undefine("M").is_err());
    }

    #[test]
    fn uses_have_a_limit() {
        let mut macros = Macros::default();
        define(&mut macros, "M $a", &"$a".repeat(100_000)).expect("a macro");
        assert!(used(&mut macros, "M", &[&"x".repeat(1000)]).unwrap_err().contains("exceed 16 MB"));
    }
}
