//! Directives that the parser processes itself: `Define`, `Include`, `<IfModule>` and similar. None of them is left in
//! the tree.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::syntax::include;
use crate::syntax::parse::{ConfigReader, INCLUDED, INCLUDED_BY_MACRO};
use crate::syntax::section_stack::{SectionFate, SectionStack, condition};
use crate::syntax::source::below;
use crate::syntax::tree::{At, Directive};
use crate::syntax::value_files::ValueFiles;
use crate::syntax::version;

impl ConfigReader<'_> {
    /// Parses the arguments of a section, and evaluates its condition.
    pub(super) fn section(&self, inner: &str) -> Result<Option<(Vec<String>, SectionFate)>, String> {
        let Some(inner) = inner.strip_suffix('>') else {
            return Err(format!(
                "`<{inner}` has no `>` at the end of the line; write it, and comments on lines of their own"
            ));
        };
        let mut args = self.words(inner)?.into_iter();
        let name = args.next().ok_or("`<>` has no name; write for instance <Location /path>")?;
        let args: Vec<String> = args.collect();
        let fate = match name.to_ascii_lowercase().as_str() {
            "ifmodule" if self.keeps_skipped && args.iter().all(|module| self.is_lacking(module)) => SectionFate::Kept,
            "ifmodule" => condition(&name, &args, self.source.is_module)?,
            "iffile" if !self.reads_files => {
                return Err(format!("<{name}>: is not allowed in .htaccess files; write it in the main configuration"));
            }
            "iffile" => condition(&name, &args, |path| (self.source.exists)(&self.server_root.join(path)))?,
            "ifdefine" => condition(&name, &args, |name| self.variables.is_defined(name))?,
            "ifsection" => {
                let is_section = |name: &str| (self.source.syntax_of)(name).is_some_and(|syntax| syntax.is_section);
                condition(&name, &args, |name| is_section(name.trim_start_matches('<')))?
            }
            "ifdirective" => condition(&name, &args, |name| (self.source.syntax_of)(name).is_some())?,
            "ifversion" => version::condition(&args)?,
            _ => SectionFate::Kept,
        };
        Ok(Some((args, fate)))
    }

    /// Processes a line that is no section.
    pub(super) fn plain(
        &mut self,
        name: String,
        args: Vec<String>,
        at: &At,
        stack: &mut SectionStack<'_>,
    ) -> Result<(), String> {
        match (name.to_ascii_lowercase().as_str(), args.as_slice()) {
            ("define", [name, ..]) if name.contains(':') => {
                return Err(format!("Define: a name must not contain a colon, got \"{name}\""));
            }
            ("define", [name]) => self.variables.define(name, None),
            ("define", [name, value]) => self.variables.define(name, Some(value)),
            ("define", _) => {
                return Err("Define: expected a name, and optionally a value in quotation marks".to_owned());
            }
            ("undefine", [name]) => self.variables.undefine(name),
            ("use" | "undefmacro", _) if !self.reads_files => {
                return Err(format!("{name}: is not allowed in .htaccess files; write it in the main configuration"));
            }
            ("use", [of, values @ ..]) => self.use_macro(of, values, at, stack)?,
            ("undefmacro", [of]) => self.macros.undefine(of)?,
            ("use" | "undefmacro", _) => return Err(format!("{name}: expected the name of a macro")),
            ("undefine", _) => return Err("UnDefine: expected one name".to_owned()),
            ("include" | "includeoptional", _) if !self.reads_files => {
                return Err(format!("{name}: is not allowed in .htaccess files; write it in the main configuration"));
            }
            ("include", [pattern]) => self.include(pattern, include::IfMissing::IsAnError, at, stack)?,
            ("includeoptional", [pattern]) => self.include(pattern, include::IfMissing::IsFine, at, stack)?,
            ("resourceconfig" | "accessconfig", [file]) if file == "/dev/null" => {}
            ("resourceconfig" | "accessconfig", [file]) => self.include(file, include::IfMissing::IsFine, at, stack)?,
            ("include" | "includeoptional" | "resourceconfig" | "accessconfig", _) => {
                return Err(format!("{name}: expected one file, folder or pattern"));
            }
            (lower, first) => {
                if let ("serverroot", [root]) = (lower, first) {
                    self.server_root = below(&self.source.started_in, root);
                }
                let directive = Directive { name, args, at: at.clone(), section: None };
                stack.inside().extend(self.listed(directive)?);
            }
        }
        Ok(())
    }

    /// `<Macro name parameter…>`: stores the lines up to `</Macro>`.
    pub(super) fn define_macro(&mut self, inner: &str, at: &At, stack: &mut SectionStack<'_>) -> Result<(), String> {
        let text = stack.lines.raw_until_end_of("Macro");
        let text = text.ok_or("<Macro>: this section is never closed; write </Macro> in the same file")?;
        if stack.is_skipping() {
            return Ok(());
        }
        if !self.reads_files {
            return Err("<Macro>: is not allowed in .htaccess files; write it in the main configuration".to_owned());
        }
        let words = self.words(inner.trim_end().strip_suffix('>').unwrap_or(inner))?;
        self.macros.define(words.get(1..).unwrap_or_default(), text, at)
    }

    /// `Use name value…`: reads the lines of the macro at this point.
    fn use_macro(
        &mut self,
        name: &str,
        values: &[String],
        at: &At,
        stack: &mut SectionStack<'_>,
    ) -> Result<(), String> {
        let text = self.macros.begin(name, values)?;
        let outer = self.used_at.replace(at.clone());
        let tree = self.one_file(&text, at.file.clone());
        self.used_at = outer;
        self.macros.end();
        stack.inside().extend(tree);
        Ok(())
    }

    /// Adds the contents of the file that a directive names, except in `.htaccess` files.
    fn listed(&self, directive: Directive) -> Result<Vec<Directive>, String> {
        match self.reads_files {
            true => ValueFiles { source: self.source, server_root: &self.server_root }.open(directive),
            false => Ok(vec![directive]),
        }
    }

    /// Whether `<IfModule name>` names a missing module. `!name` tests the absence of a module.
    fn is_lacking(&self, module: &str) -> bool {
        !module.starts_with('!') && !(self.source.is_module)(module)
    }

    /// Records a line that is not left in the tree. Lines of macros have no place of their own: of these, only files
    /// are recorded.
    pub(super) fn pass(&mut self, name: &str, args: &[String], at: &At) {
        let name = match &self.used_at {
            Some(_) if name == INCLUDED => INCLUDED_BY_MACRO,
            Some(_) => return,
            None => name,
        };
        if self.made_at.is_none() {
            self.passed.push(Directive { name: name.to_owned(), args: args.to_vec(), at: at.clone(), section: None });
        }
    }

    fn include(
        &mut self,
        pattern: &str,
        missing: include::IfMissing,
        at: &At,
        stack: &mut SectionStack<'_>,
    ) -> Result<(), String> {
        // Symbolic links can give a file endless names.
        const MAX_DEPTH: usize = 50;
        self.pass("Include", &[self.server_root.join(pattern).to_string_lossy().into_owned()], at);
        for path in include::find(self.source, &self.server_root.join(pattern), missing)? {
            if self.reading.contains(&path) || self.reading.len() == MAX_DEPTH {
                return Err(format!("Include: {} includes itself; remove this line", path.display()));
            }
            match (self.source.read)(&path) {
                Ok(text) => {
                    let file: Arc<str> = path.to_string_lossy().into();
                    self.pass(INCLUDED, &[file.to_string()], at);
                    self.reading.push(path);
                    let (made_at, used_at) = (self.made_at.take(), self.used_at.take());
                    let tree = self.one_file(&text, file);
                    (self.made_at, self.used_at) = (made_at, used_at);
                    self.reading.pop();
                    stack.inside().extend(tree);
                }
                Err(error) if missing.is_fine(&error) => {}
                Err(error) => return Err(unreadable(&path, &error)),
            }
        }
        Ok(())
    }
}

fn unreadable(path: &Path, error: &io::Error) -> String {
    format!("Include: cannot read {}: {error}; correct the path, or make it readable", path.display())
}
