//! Flags `H` and `T`: handler and media type that a rule sets for the request's file.

/// Handler and media type by a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ForcedByRule {
    /// `H`: name of the handler.
    pub handler: Option<String>,
    /// `T`: media type.
    pub content_type: Option<String>,
}

impl ForcedByRule {
    /// Whether no rule has the flags.
    pub fn is_none(&self) -> bool {
        *self == ForcedByRule::default()
    }

    /// Replaces handler and type where `later` has one.
    pub fn and(&mut self, later: ForcedByRule) {
        self.handler = later.handler.or(self.handler.take());
        self.content_type = later.content_type.or(self.content_type.take());
    }

    /// Encodes both names for a frame, separated by a zero byte. Empty if there are none.
    pub fn encode(&self) -> Vec<u8> {
        if self.is_none() {
            return Vec::new();
        }
        let text = |name: &Option<String>| name.clone().unwrap_or_default();
        format!("{}\0{}", text(&self.handler), text(&self.content_type)).into_bytes()
    }

    /// Decodes the bytes of [`Self::encode`].
    pub fn decode(bytes: &[u8]) -> ForcedByRule {
        let text = String::from_utf8_lossy(bytes);
        let (handler, content_type) = text.split_once('\0').unwrap_or((&text, ""));
        let name = |name: &str| Some(name.to_owned()).filter(|name| !name.is_empty());
        ForcedByRule { handler: name(handler), content_type: name(content_type) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_carries_both_names() {
        for (handler, content_type) in
            [(None, None), (Some("cgi-script"), None), (None, Some("a/b")), (Some("x"), Some("a/b"))]
        {
            let name = |name: Option<&str>| name.map(str::to_owned);
            let forced = ForcedByRule { handler: name(handler), content_type: name(content_type) };
            assert_eq!(ForcedByRule::decode(&forced.encode()), forced);
        }
    }

    #[test]
    fn a_later_rule_replaces_what_it_names() {
        let mut forced = ForcedByRule { handler: Some("a".to_owned()), content_type: Some("b".to_owned()) };
        forced.and(ForcedByRule { handler: Some("c".to_owned()), content_type: None });
        assert_eq!((forced.handler.as_deref(), forced.content_type.as_deref()), (Some("c"), Some("b")));
    }
}
