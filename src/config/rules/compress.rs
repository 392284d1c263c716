//! Which answers are compressed: `SetOutputFilter DEFLATE`, `AddOutputFilterByType DEFLATE type…`.

use std::collections::BTreeMap;

use super::super::draft::Draft;

/// See the module's text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compress {
    /// `SetOutputFilter`: everything; `Some(false)` is `SetOutputFilter None`.
    all: Option<bool>,
    /// MIME types.
    types: Vec<String>,
    /// `AddOutputFilter`: extensions in lower case, and whether files with them are compressed.
    extensions: BTreeMap<String, bool>,
    /// `DeflateCompressionLevel`
    pub level: Option<u32>,
}

impl Compress {
    /// Merges what an inner section says.
    pub fn merge(&mut self, inner: &Compress) {
        self.all = inner.all.or(self.all);
        self.types.extend_from_slice(&inner.types);
        self.extensions.extend(inner.extensions.iter().map(|(extension, on)| (extension.clone(), *on)));
        self.level = inner.level.or(self.level);
    }

    /// Whether an answer may be compressed at all.
    pub fn is_on(&self) -> bool {
        self.all == Some(true) || !self.types.is_empty() || self.extensions.values().any(|on| *on)
    }

    /// Whether answers of this MIME type, without parameters, for a file of this name are compressed.
    pub fn takes(&self, mime: &str, file: &str) -> bool {
        let by_type = || self.types.iter().any(|known| known.eq_ignore_ascii_case(mime));
        self.all == Some(true) || by_type() || has_extension(&self.extensions, file)
    }
}

/// Whether a file's name has one of the extensions that are `true`.
pub(super) fn has_extension(known: &BTreeMap<String, bool>, file: &str) -> bool {
    file.split('.').skip(1).any(|extension| known.get(&extension.to_ascii_lowercase()) == Some(&true))
}

/// As directives write it, with or without its dot, in any case.
pub(super) fn extension(word: &str) -> String {
    word.trim_start_matches('.').to_ascii_lowercase()
}

/// `SetOutputFilter filter[;filter…]|None`
pub fn set_filter(draft: &mut Draft, names: &str) {
    let all = !names.eq_ignore_ascii_case("none") && is_deflate_among(draft, names, FOREIGN);
    draft.said().rules.compress.all = Some(all);
}

/// `AddOutputFilterByType filter[;filter…] type…`
pub fn by_type(draft: &mut Draft, args: &[String]) {
    let Some((names, types)) = args.split_first() else { return };
    if is_deflate_among(draft, names, FOREIGN) {
        draft.said().rules.compress.types.extend_from_slice(types);
    }
}

/// `AddOutputFilter filter[;filter…] extension…`
pub fn by_extension(draft: &mut Draft, args: &[String]) {
    let Some((names, extensions)) = args.split_first() else { return };
    let deflates = is_deflate_among(draft, names, FOREIGN);
    say_of(draft, extensions, deflates);
}

/// `RemoveOutputFilter extension…`
pub fn remove_filter(draft: &mut Draft, extensions: &[String]) {
    say_of(draft, extensions, false);
}

fn say_of(draft: &mut Draft, extensions: &[String], deflates: bool) {
    for word in extensions {
        draft.said().rules.compress.extensions.insert(extension(word), deflates);
    }
}

const FOREIGN: &str = "the only filter here is DEFLATE, a Perl handler can change what it prints";

/// Ours is one of httpd's filters; what others would change is left as it is, and `advice` is given.
pub(super) fn is_deflate_among(draft: &mut Draft, names: &str, advice: &str) -> bool {
    let is_ours = |name: &&str| name.eq_ignore_ascii_case("deflate");
    let foreign: Vec<&str> = names.split(';').filter(|name| !name.is_empty() && !is_ours(name)).collect();
    if !foreign.is_empty() {
        draft.warn(&format!("{} is not done: {advice}", foreign.join(";")));
    }
    names.split(';').any(|name| is_ours(&name))
}
