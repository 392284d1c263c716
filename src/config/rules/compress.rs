//! Which answers are compressed: `SetOutputFilter DEFLATE`, `AddOutputFilterByType DEFLATE type…`.

use super::super::draft::Draft;

/// See the module's text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compress {
    /// `SetOutputFilter`: everything; `Some(false)` is `SetOutputFilter None`.
    all: Option<bool>,
    /// MIME types.
    types: Vec<String>,
    /// `DeflateCompressionLevel`
    pub level: Option<u32>,
}

impl Compress {
    /// Merges what an inner section says.
    pub fn merge(&mut self, inner: &Compress) {
        self.all = inner.all.or(self.all);
        self.types.extend_from_slice(&inner.types);
        self.level = inner.level.or(self.level);
    }

    /// Whether an answer may be compressed at all.
    pub fn is_on(&self) -> bool {
        self.all == Some(true) || !self.types.is_empty()
    }

    /// Whether answers of this MIME type, without parameters, are compressed.
    pub fn takes(&self, mime: &str) -> bool {
        self.all == Some(true) || self.types.iter().any(|known| known.eq_ignore_ascii_case(mime))
    }
}

/// `SetOutputFilter DEFLATE|None`
pub fn set_filter(draft: &mut Draft, name: &str) -> Result<(), String> {
    let all = match name.to_ascii_lowercase().as_str() {
        "none" => false,
        _ => is_deflate(name).map(|()| true)?,
    };
    draft.said().rules.compress.all = Some(all);
    Ok(())
}

/// `AddOutputFilterByType DEFLATE type…`
pub fn by_type(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let Some((filter, types)) = args.split_first() else { return Ok(()) };
    is_deflate(filter)?;
    draft.said().rules.compress.types.extend_from_slice(types);
    Ok(())
}

fn is_deflate(filter: &str) -> Result<(), String> {
    match filter.eq_ignore_ascii_case("deflate") {
        true => Ok(()),
        false => Err(format!("the only filter is DEFLATE, got \"{filter}\": a Perl handler can change what it prints")),
    }
}
