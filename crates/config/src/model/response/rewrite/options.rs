//! `RewriteOptions`

/// `RewriteOptions` of a place. As in httpd, a place with the directive has none of the outer place's options, and a
/// place without it has all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RewriteOptions {
    /// `Inherit`, `InheritBefore`: this place takes the outer rules.
    pub inherit: Option<Inherit>,
    /// `InheritDown`, `InheritDownBefore`: inner places take the rules of this place.
    pub inherit_down: Option<Inherit>,
    /// `IgnoreInherit`: this place takes no rules from a place with `inherit_down`.
    pub ignore_inherit: bool,
    /// `MergeBase`: the outer RewriteBase applies.
    pub merge_base: bool,
    /// `AllowNoSlash`: rules of a folder apply to its path without the trailing slash.
    pub allow_no_slash: bool,
    /// `AllowAnyURI`: rules of a host apply to requests for `*`.
    pub allow_any_uri: bool,
    /// `IgnoreContextInfo`: the path that led to a folder, for instance by Alias, is not put before relative results.
    pub ignore_context_info: bool,
    /// `LegacyPrefixDocRoot`: a result is a path of the disk even if the rule wrote it as a URL of this server.
    pub legacy_prefix_doc_root: bool,
}

/// Position of the inherited rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "what they say")]
pub enum Inherit {
    Behind,
    Before,
}

impl RewriteOptions {
    /// Applies a word of `RewriteOptions`. The error lists all words.
    pub fn set(&mut self, name: &str) -> Result<(), String> {
        match name.to_ascii_lowercase().as_str() {
            "inherit" => self.inherit = Some(Inherit::Behind),
            "inheritbefore" => self.inherit = Some(Inherit::Before),
            "inheritdown" => self.inherit_down = Some(Inherit::Behind),
            "inheritdownbefore" => self.inherit_down = Some(Inherit::Before),
            "ignoreinherit" => self.ignore_inherit = true,
            "mergebase" => self.merge_base = true,
            "allownoslash" => self.allow_no_slash = true,
            "allowanyuri" => self.allow_any_uri = true,
            "ignorecontextinfo" => self.ignore_context_info = true,
            "legacyprefixdocroot" => self.legacy_prefix_doc_root = true,
            // LongURLOptimization frees memory early; here that memory is always freed at once.
            "longurloptimization" => {}
            _ => {
                return Err(format!(
                    "expected Inherit, InheritBefore, InheritDown, InheritDownBefore, IgnoreInherit, AllowNoSlash, AllowAnyURI, \
                     MergeBase, IgnoreContextInfo, LegacyPrefixDocRoot or LongURLOptimization, got \"{name}\""
                ));
            }
        }
        Ok(())
    }

    /// Position of the rules of an outer place with the options `outer`, if they apply here.
    pub fn inherits(&self, outer: &RewriteOptions) -> Option<Inherit> {
        self.inherit.or(outer.inherit_down.filter(|_| !self.ignore_inherit))
    }
}
