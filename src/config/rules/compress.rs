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
        let by_name = || {
            let mut extensions = file.split('.').skip(1).map(str::to_ascii_lowercase);
            extensions.any(|extension| self.extensions.get(&extension) == Some(&true))
        };
        self.all == Some(true) || self.types.iter().any(|known| known.eq_ignore_ascii_case(mime)) || by_name()
    }
}

/// `SetOutputFilter filter[;filter…]|None`
pub fn set_filter(draft: &mut Draft, names: &str) {
    let all = !names.eq_ignore_ascii_case("none") && is_deflate_among(draft, names);
    draft.said().rules.compress.all = Some(all);
}

/// `AddOutputFilterByType filter[;filter…] type…`
pub fn by_type(draft: &mut Draft, args: &[String]) {
    let Some((names, types)) = args.split_first() else { return };
    if is_deflate_among(draft, names) {
        draft.said().rules.compress.types.extend_from_slice(types);
    }
}

/// `AddOutputFilter filter[;filter…] extension…`
pub fn by_extension(draft: &mut Draft, args: &[String]) {
    let Some((names, extensions)) = args.split_first() else { return };
    let deflates = is_deflate_among(draft, names);
    say_of(draft, extensions, deflates);
}

/// `RemoveOutputFilter extension…`
pub fn remove_filter(draft: &mut Draft, extensions: &[String]) {
    say_of(draft, extensions, false);
}

fn say_of(draft: &mut Draft, extensions: &[String], deflates: bool) {
    for extension in extensions {
        let extension = extension.trim_start_matches('.').to_ascii_lowercase();
        draft.said().rules.compress.extensions.insert(extension, deflates);
    }
}

/// `SetInputFilter`, `AddInputFilter`: bodies of requests reach programs as they were sent.
pub fn input_filter(draft: &mut Draft, names: &str) {
    if !names.eq_ignore_ascii_case("none") {
        draft.warn(&format!(
            "{names} is not done: bodies of requests reach programs as they were sent (this line is ignored)"
        ));
    }
}

/// Ours is one of httpd's filters; what others would change is left as it is.
fn is_deflate_among(draft: &mut Draft, names: &str) -> bool {
    let is_ours = |name: &&str| name.eq_ignore_ascii_case("deflate");
    let foreign: Vec<&str> = names.split(';').filter(|name| !name.is_empty() && !is_ours(name)).collect();
    if !foreign.is_empty() {
        let advice = "the only filter here is DEFLATE, a Perl handler can change what it prints";
        draft.warn(&format!("{} is not done: {advice}", foreign.join(";")));
    }
    names.split(';').any(|name| is_ours(&name))
}
