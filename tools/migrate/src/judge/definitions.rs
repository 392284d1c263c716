//! `<IfDefine>` without its definition. The old server may have been started with `-D`, which no file says.

use std::collections::HashSet;

use config::{At, LineReader, split_words};

use super::ledger::{Ledger, LineVerdict};
use crate::read::OldSite;
use crate::write::{Copies, FileCopy};

/// Names that Cameleer defines itself.
const OWN: [&str; 1] = ["MODPERL2"];

/// Reports the blocks whose name nothing defines.
pub fn judge(site: &OldSite, copies: &Copies, ledger: &mut Ledger) {
    let mut defined: HashSet<String> = site.defines.iter().cloned().chain(OWN.map(str::to_owned)).collect();
    for copy in &copies.all {
        defined.extend(arguments(copy, "define").map(|(_, name)| name));
    }
    for copy in &copies.all {
        for (line, name) in arguments(copy, "<ifdefine") {
            let name = name.trim_end_matches('>');
            if name.is_empty() || name.starts_with('!') || defined.contains(name) {
                continue;
            }
            let at = At { file: copy.origin.to_string_lossy().into(), line };
            let sentence = format!(
                "<IfDefine {name}>: -D {name} was not given: its lines do not apply; if the old server was started with \
                 -D {name}, give it to migrate"
            );
            ledger.add(LineVerdict::open(&at, sentence, None));
        }
    }
}

/// The first argument of each line that begins with a word, which is in lower case.
fn arguments<'a>(copy: &'a FileCopy, word: &'a str) -> impl Iterator<Item = (u32, String)> + 'a {
    LineReader::new(&copy.text).filter_map(move |line| {
        let begins = line.text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        let mut words = begins.then(|| split_words(&line.text).ok())??.into_iter();
        words.next().filter(|first| first.eq_ignore_ascii_case(word))?;
        Some((line.number, words.next()?))
    })
}
