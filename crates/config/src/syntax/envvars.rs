//! Parser of Debian's `envvars` beside an `apache2.conf`, which defines names for `${APACHE_RUN_DIR}`. It is a shell
//! script, but none of it is executed: other shell commands are reported and define nothing.

use super::tree::{At, ConfigError};

/// Contents of the file.
#[derive(Debug, Clone, Default)]
pub struct Envvars {
    /// Names and values. The last value of a name applies.
    pub values: Vec<(String, String)>,
    /// Messages about lines that cannot be parsed.
    pub odd: Vec<ConfigError>,
}

impl Envvars {
    /// Parses the text of `file`. `instance` is Debian's suffix of names for a second server (`/etc/apache2-INSTANCE`).
    pub fn parse(text: &str, file: &str, instance: Option<&str>, env: &dyn Fn(&str) -> Option<String>) -> Envvars {
        let mut reader = Reader { found: Envvars::default(), env, open: Vec::new() };
        reader.set("SUFFIX", instance.map(|name| format!("-{name}")).unwrap_or_default());
        for (line, number) in text.lines().zip(1..) {
            if let Err(reason) = reader.line(line.trim(), number) {
                reader.name(file, number, &reason);
            }
        }
        if let Some(number) = reader.open.first().copied() {
            reader.name(file, number, "this command is never closed, so the rest of the file is ignored");
        }
        reader.found.values.retain(|(name, _)| name != "SUFFIX");
        reader.found
    }

    /// The last assignment wins, as in a shell.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

struct Reader<'a> {
    found: Envvars,
    env: &'a dyn Fn(&str) -> Option<String>,
    /// Line numbers of open compound commands, whose contents may not apply.
    open: Vec<u32>,
}

/// The word that closes a compound command.
fn end_of(command: &str) -> Option<&'static str> {
    match command {
        "if" => Some("fi"),
        "case" => Some("esac"),
        "for" | "while" | "until" => Some("done"),
        _ => None,
    }
}

fn first_word(text: &str) -> &str {
    text.trim_start().split([' ', '\t', ';']).next().unwrap_or_default()
}

impl Reader<'_> {
    fn set(&mut self, name: &str, value: String) {
        self.found.values.push((name.to_owned(), value));
    }

    fn name(&mut self, file: &str, line: u32, reason: &str) {
        let at = At { file: file.into(), line };
        let advice = "define the names that the configuration uses in the environment, or with Define";
        self.found.odd.push(ConfigError::at(&at, format!("{reason}, which is not executed; {advice}")));
    }

    fn line(&mut self, line: &str, number: u32) -> Result<(), String> {
        let word = first_word(line);
        if let Some(end) = end_of(word)
            && !line.split(';').skip(1).any(|command| first_word(command) == end)
        {
            self.open.push(number);
        }
        match word {
            "" => Ok(()),
            ":" => self.default(line[1..].trim()),
            _ if line.starts_with('#') => Ok(()),
            "if" | "case" | "for" | "while" | "until" => {
                // Debian's test for the suffix of a second server, which the parameter `instance` has.
                match line.contains("${APACHE_CONFDIR##/etc/apache2-}") {
                    true => Ok(()),
                    false => Err(format!("\"{word}\" is a shell command")),
                }
            }
            "fi" | "esac" | "done" => {
                self.open.pop();
                Ok(())
            }
            _ if !self.open.is_empty() => Ok(()),
            "unset" => {
                let names: Vec<&str> = line.split_whitespace().skip(1).collect();
                self.found.values.retain(|(name, _)| !names.contains(&name.as_str()));
                Ok(())
            }
            "export" => self.assignments(line["export".len()..].trim_start()),
            _ => self.assignments(line),
        }
    }

    /// `${NAME:=default}`
    fn default(&mut self, text: &str) -> Result<(), String> {
        let inside = text.trim_matches('"').strip_prefix("${").and_then(|inside| inside.strip_suffix('}'));
        let Some((name, _)) = inside.and_then(|inside| inside.split_once('=')) else { return Ok(()) };
        let name = name.trim_end_matches(':').to_owned();
        let (value, _) = self.value(text)?;
        self.set(&name, value);
        Ok(())
    }

    /// Parses `NAME=value NAME=value`, or exported names without values.
    fn assignments(&mut self, mut rest: &str) -> Result<(), String> {
        while !rest.is_empty() && !rest.starts_with('#') {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(format!("\"{}\" is not NAME=value", shown(rest)));
            }
            let Some(value) = after.strip_prefix('=') else {
                match after.chars().next() {
                    None | Some(' ' | '\t') => rest = after.trim_start(),
                    Some(_) => return Err(format!("\"{}\" is not NAME=value", shown(rest))),
                }
                continue;
            };
            let (value, after) = self.value(value)?;
            self.set(name, value);
            rest = after.trim_start();
        }
        Ok(())
    }

    /// Parses the value at the start, and returns the rest.
    fn value<'t>(&self, text: &'t str) -> Result<(String, &'t str), String> {
        let mut out = String::new();
        let mut rest = text;
        let mut quoted = false;
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            match c {
                ' ' | '\t' if !quoted => return Ok((out, rest)),
                '"' => quoted = !quoted,
                '\'' if !quoted => {
                    let (inside, behind) = after.split_once('\'').ok_or("a quotation mark is missing")?;
                    out.push_str(inside);
                    rest = behind;
                    continue;
                }
                '\\' => {
                    let next = after.chars().next().ok_or("a line is continued on the next one")?;
                    out.push(next);
                    rest = &after[next.len_utf8()..];
                    continue;
                }
                '$' => {
                    let (value, behind) = self.variable(after)?;
                    out.push_str(&value);
                    rest = behind;
                    continue;
                }
                '`' => return Err("`…` is a shell command".to_owned()),
                ';' | '&' | '|' | '<' | '>' | '(' if !quoted => return Err(format!("\"{c}\" is shell syntax")),
                c => out.push(c),
            }
            rest = after;
        }
        if quoted { Err("a quotation mark is missing".to_owned()) } else { Ok((out, "")) }
    }

    /// Parses the text after a `$`: `NAME`, `{NAME}`, `{NAME:-default}`.
    fn variable<'t>(&self, text: &'t str) -> Result<(String, &'t str), String> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let Some(inside) = text.strip_prefix('{') else {
            let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
            let (name, after) = text.split_at(end);
            return match name {
                "" => Err(format!("\"${}\" is shell syntax", shown(text))),
                name => Ok((self.known(name).unwrap_or_default(), after)),
            };
        };
        let (inside, after) = inside.split_once('}').ok_or("a } is missing")?;
        let (name, how) = inside.split_at(inside.find(|c| !is_name(c)).unwrap_or(inside.len()));
        let value = self.known(name);
        let default = match how.strip_prefix(":-").or_else(|| how.strip_prefix(":=")) {
            Some(default) => value.filter(|value| !value.is_empty()).unwrap_or_else(|| default.to_owned()),
            None if how.is_empty() => value.unwrap_or_default(),
            None => match how.strip_prefix('-').or_else(|| how.strip_prefix('=')) {
                Some(default) => value.unwrap_or_else(|| default.to_owned()),
                None => return Err(format!("\"${{{}}}\" is shell syntax", shown(inside))),
            },
        };
        match default.contains(['$', '`']) {
            true => Err(format!("\"${{{}}}\" is shell syntax", shown(inside))),
            false => Ok((default, after)),
        }
    }

    fn known(&self, name: &str) -> Option<String> {
        self.found.get(name).map(str::to_owned).or_else(|| (self.env)(name))
    }
}

fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str, instance: Option<&str>) -> String {
        let env = |name: &str| (name == "SET").then(|| "env".to_owned());
        let found = Envvars::parse(text, "envvars", instance, &env);
        let values = found.values.iter().map(|(name, value)| format!("{name}={value}"));
        let odd = found.odd.iter().map(|odd| {
            let reason = odd.message.split(", which is not").next().unwrap_or_default();
            format!("{}: {reason}", odd.at.as_ref().map_or(0, |at| at.line))
        });
        values.chain(odd).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn debians_file_is_parsed() {
        let text = "# comment\nunset HOME\nif [ \"${APACHE_CONFDIR##/etc/apache2-}\" != \"${APACHE_CONFDIR}\" ] ; then\n\
            \tSUFFIX=\"-${APACHE_CONFDIR##/etc/apache2-}\"\nelse\n\tSUFFIX=\nfi\nexport APACHE_RUN_USER=www-data\n\
            export APACHE_RUN_DIR=/var/run/apache2$SUFFIX\nexport LANG=C\nexport LANG\n";
        assert_eq!(parsed(text, None), "APACHE_RUN_USER=www-data | APACHE_RUN_DIR=/var/run/apache2 | LANG=C");
        assert!(parsed(text, Some("two")).contains("APACHE_RUN_DIR=/var/run/apache2-two"));
    }

    #[test]
    fn values_may_contain_quotes_defaults_and_names() {
        let cases = [
            ("A=1\nexport B=$A/${A}x", "A=1 | B=1/1x"),
            ("A='$x y' B=\"a $SET\" # c", "A=$x y | B=a env"),
            ("export A=${A:-/run} B=${SET:-no} C=${NO-d}${SET=x}", "A=/run | B=env | C=denv"),
            ("A=a\\ b\nunset A", ""),
            (": ${A:=b}\nexport A\n: ${SET:=no}", "A=b | SET=env"),
            ("export A=", "A="),
        ];
        for (text, expected) in cases {
            assert_eq!(parsed(text, None), expected, "{text}");
        }
    }

    #[test]
    fn other_shell_syntax_is_reported_and_defines_nothing() {
        let cases = [
            ("A=$(hostname)", "1: \"$(hostname)\" is shell syntax"),
            ("A=`id`\nB=1", "B=1 | 1: `…` is a shell command"),
            (". /etc/default/locale", "1: \". /etc/default/locale\" is not NAME=value"),
            ("if [ -f x ]; then\nA=1\nfi\nB=2", "B=2 | 1: \"if\" is a shell command"),
            ("if [ -f x ]; then A=1; fi\nB=2", "B=2 | 1: \"if\" is a shell command"),
            ("case $X in a) A=1 ;; esac # one; two\nB=2", "B=2 | 1: \"case\" is a shell command"),
            ("for i in a; do A=1; done < x\nB=2", "B=2 | 1: \"for\" is a shell command"),
            (
                "A=1\nwhile read B; do\nif [ -f x ]; then C=1; fi\nB=2",
                "A=1 | 2: \"while\" is a shell command | 3: \"if\" is a shell command | \
                 2: this command is never closed, so the rest of the file is ignored",
            ),
            ("A=1; rm -rf /", "1: \";\" is shell syntax"),
            ("A=\"x", "1: a quotation mark is missing"),
            ("A=${B##x}", "1: \"${B##x}\" is shell syntax"),
            ("A=${B:-$(id)}", "1: \"${B:-$(id)}\" is shell syntax"),
            ("ulimit -n 65536", "1: \"-n 65536\" is not NAME=value"),
            ("é=1", "1: \"é=1\" is not NAME=value"),
        ];
        for (text, expected) in cases {
            assert_eq!(parsed(text, None), expected, "{text}");
        }
    }
}
