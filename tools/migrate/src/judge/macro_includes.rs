//! `Include` lines of macros. The parameters stay in the line, which reads the copies of the files.

use std::path::Path;

use config::Directive;
use config::parse::INCLUDED_BY_MACRO;

use super::ledger::LineVerdict;
use crate::naming::quoted;
use crate::read::OldSite;
use crate::write::{FOLDER_NAME, Layout, LineEdit};

pub struct MacroIncludes<'a> {
    pub site: &'a OldSite,
    pub layout: &'a Layout,
}

impl MacroIncludes<'_> {
    /// The verdict about a line of a macro with these parameters.
    pub fn verdict(&self, line: &Directive, parameters: &[String]) -> LineVerdict {
        let Some(place) = line.args.first().and_then(|written| self.place(written, parameters)) else {
            let sentence = format!(
                "{}: the files that this macro includes are not copied, because their folder depends on a parameter, or \
                 nothing uses the macro: they still belong to the old server; copy them and name the copies",
                line.name
            );
            return LineVerdict::open(&line.at, sentence, None);
        };
        let new = format!("{} {}", line.name, quoted(&format!("${{{FOLDER_NAME}}}/{place}")));
        let sentence = format!("{}: reads the copies of the files", line.name);
        LineVerdict::changed(&line.at, sentence, LineEdit::Replace(vec![new]))
    }

    /// The place of the copies, with the parameters; `None` if they are not all below one folder of the old
    /// configuration.
    fn place(&self, written: &str, parameters: &[String]) -> Option<String> {
        let whole = self.site.server_root.join(written).to_string_lossy().into_owned();
        let first = parameters.iter().map(String::as_str).chain(["${"]).filter_map(|name| whole.find(name)).min();
        let folder = Path::new(whole.get(..first.unwrap_or(whole.len()))?).to_string_lossy().into_owned();
        let folder = &folder[..=folder.rfind('/')?];
        let base = self.layout.base.to_string_lossy().into_owned() + "/";
        let files = self.site.passed.iter().filter(|passed| passed.name == INCLUDED_BY_MACRO);
        let mut files =
            files.filter_map(|passed| passed.args.first()).filter(|file| file.starts_with(folder)).peekable();
        files.peek()?;
        let is_copied = |file: &String| !file.contains("/../") && !self.site.unread.contains_key(Path::new(file));
        (whole.starts_with(&base) && !whole.contains("/../") && folder.starts_with(&base) && files.all(is_copied))
            .then(|| whole[base.len()..].to_owned())
    }
}
