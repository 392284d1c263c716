//! Directives that name a file of values. Their files are read by the parser, so that the meaning of a configuration
//! depends only on its tree, and every process builds the same.

use std::path::Path;
use std::sync::Arc;

use crate::syntax::source::{ParserSource, ValueFile};
use crate::syntax::tree::{At, Directive};

/// Reader of the files.
pub(super) struct ValueFiles<'a> {
    pub source: &'a ParserSource<'a>,
    pub server_root: &'a Path,
}

impl ValueFiles<'_> {
    /// Adds the contents of the file that the directive names, or replaces the directive by one for each line of the
    /// file.
    pub fn open(&self, directive: Directive) -> Result<Vec<Directive>, String> {
        match (self.source.syntax_of)(&directive.name).and_then(|syntax| syntax.file) {
            Some(ValueFile::Types) => self.types(directive).map(|directive| vec![directive]),
            Some(ValueFile::Proxies) => self.proxies(&directive),
            Some(ValueFile::Map) => self.map(directive).map(|directive| vec![directive]),
            None => Ok(vec![directive]),
        }
    }

    /// Appends the lines of the file, if the map is a file.
    fn map(&self, mut directive: Directive) -> Result<Directive, String> {
        let source = directive.args.get(1).map_or("", String::as_str);
        if let Some(file) = source
            .strip_prefix("txt:")
            .or_else(|| source.strip_prefix("rnd:"))
            .or_else(|| source.starts_with('/').then_some(source))
        {
            let text = self.read(&directive.name, file)?;
            directive.args.extend(text.lines().map(str::to_owned));
        }
        Ok(directive)
    }

    /// Appends the lines of the file.
    fn types(&self, mut directive: Directive) -> Result<Directive, String> {
        let text = self.text(&directive)?.1;
        directive.args.extend(lines(&text).filter(|line| line.contains(char::is_whitespace)).map(str::to_owned));
        Ok(directive)
    }

    fn proxies(&self, directive: &Directive) -> Result<Vec<Directive>, String> {
        let (file, text) = self.text(directive)?;
        let directives: Vec<Directive> = (1..)
            .zip(lines(&text))
            .filter(|(_, line)| !line.is_empty())
            .map(|(line, text)| Directive {
                name: directive.name.clone(),
                args: text.split_whitespace().map(str::to_owned).collect(),
                at: At { file: file.clone(), line },
                section: None,
            })
            .collect();
        match directives.is_empty() {
            true => Err(format!(
                "{}: {file} lists no proxies, and without a list every proxy is trusted; add one, or remove this line",
                directive.name
            )),
            false => Ok(directives),
        }
    }

    fn text(&self, directive: &Directive) -> Result<(Arc<str>, String), String> {
        let name = &directive.name;
        let [file] = directive.args.as_slice() else { return Err(format!("{name}: expected one file")) };
        let path = self.server_root.join(file);
        Ok((path.to_string_lossy().into(), self.read(name, file)?))
    }

    fn read(&self, name: &str, file: &str) -> Result<String, String> {
        let path = self.server_root.join(file);
        (self.source.read)(&path).map_err(|error| {
            format!("{name}: cannot read {}: {error}; correct the path, or make it readable", path.display())
        })
    }
}

/// Lines without comments, trimmed.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split('#').next().unwrap_or_default().trim())
}
