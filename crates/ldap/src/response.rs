//! Responses, parsed.

use super::ber::{BerReader, ENUMERATED, INTEGER, LdapMalformed, OCTETS, SEQUENCE, SET};

/// Result codes (RFC 4511, appendix A).
#[allow(missing_docs, reason = "the names of RFC 4511")]
pub mod code {
    pub const SUCCESS: u32 = 0;
    pub const SIZE_LIMIT_EXCEEDED: u32 = 4;
    pub const COMPARE_FALSE: u32 = 5;
    pub const COMPARE_TRUE: u32 = 6;
    pub const NO_SUCH_ATTRIBUTE: u32 = 16;
    pub const UNDEFINED_ATTRIBUTE_TYPE: u32 = 17;
    pub const INVALID_ATTRIBUTE_SYNTAX: u32 = 21;
    pub const NO_SUCH_OBJECT: u32 = 32;
    pub const INVALID_DN_SYNTAX: u32 = 34;
    pub const INAPPROPRIATE_AUTHENTICATION: u32 = 48;
    pub const INVALID_CREDENTIALS: u32 = 49;
    pub const CONSTRAINT_VIOLATION: u32 = 19;
    pub const UNWILLING_TO_PERFORM: u32 = 53;
}

/// A message of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LdapResponse {
    /// The number of the request; 0: a notice of the server.
    pub id: u32,
    /// `protocolOp` of RFC 4511, section 4.1.1.
    pub operation: LdapOperation,
}

/// The content of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LdapOperation {
    /// An entry that a search has found.
    Entry(LdapEntry),
    /// A reference to another server, which is not followed.
    Reference,
    /// The end of an operation.
    Done(LdapOutcome),
    /// Another message, such as an intermediate response.
    Other,
}

/// An object of the directory: its name and attributes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LdapEntry {
    /// Distinguished name of the entry.
    pub name: String,
    /// Attributes of the entry with their values.
    pub attributes: Vec<(String, Vec<Vec<u8>>)>,
}

/// The result of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LdapOutcome {
    /// The `resultCode` of RFC 4511, section 4.1.9; 0: success.
    pub code: u32,
    /// The server's diagnostic message.
    pub message: String,
}

impl LdapEntry {
    /// The values of an attribute; the case of its name does not matter.
    pub fn values(&self, attribute: &str) -> &[Vec<u8>] {
        let found = self.attributes.iter().find(|(name, _)| name.eq_ignore_ascii_case(attribute));
        found.map_or(&[], |(_, values)| values)
    }
}

impl LdapResponse {
    /// Parses a whole message.
    pub fn parse(bytes: &[u8]) -> Result<LdapResponse, LdapMalformed> {
        let mut message = BerReader(BerReader(bytes).content(SEQUENCE)?);
        let id = message.number(INTEGER)?;
        let operation = match message.next()? {
            (0x64, content) => LdapOperation::Entry(entry(BerReader(content))?),
            (0x73, _) => LdapOperation::Reference,
            // BindResponse, SearchResultDone, CompareResponse, ExtendedResponse.
            (0x61 | 0x65 | 0x6f | 0x78, content) => LdapOperation::Done(outcome(BerReader(content))?),
            _ => LdapOperation::Other,
        };
        Ok(LdapResponse { id, operation })
    }
}

fn entry(mut content: BerReader<'_>) -> Result<LdapEntry, LdapMalformed> {
    let name = text(content.content(OCTETS)?);
    let mut list = BerReader(content.content(SEQUENCE)?);
    let mut attributes = Vec::new();
    while !list.is_empty() {
        let mut attribute = BerReader(list.content(SEQUENCE)?);
        let name = text(attribute.content(OCTETS)?);
        let mut set = BerReader(attribute.content(SET)?);
        let mut values = Vec::new();
        while !set.is_empty() {
            values.push(set.content(OCTETS)?.to_vec());
        }
        attributes.push((name, values));
    }
    Ok(LdapEntry { name, attributes })
}

fn outcome(mut content: BerReader<'_>) -> Result<LdapOutcome, LdapMalformed> {
    let code = content.number(ENUMERATED)?;
    content.content(OCTETS)?;
    Ok(LdapOutcome { code, message: text(content.content(OCTETS)?) })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::ber::{element, group, length, number};
    use super::*;

    fn message(id: u32, operation: Vec<u8>) -> Vec<u8> {
        group(SEQUENCE, &[number(INTEGER, id), operation])
    }

    #[test]
    fn an_entry_has_a_name_and_values() {
        let octets = |text: &str| element(OCTETS, text.as_bytes());
        let values = group(SET, &[octets("a@x"), octets("b@x")]);
        let attribute = group(SEQUENCE, &[octets("mail"), values]);
        let bytes = message(2, group(0x64, &[octets("uid=ann"), group(SEQUENCE, &[attribute])]));
        assert_eq!(length(&bytes), Ok(Some(bytes.len())));
        let Ok(LdapResponse { id: 2, operation: LdapOperation::Entry(entry) }) = LdapResponse::parse(&bytes) else {
            panic!("an entry")
        };
        assert_eq!((entry.name.as_str(), entry.values("MAIL").len(), entry.values("cn").len()), ("uid=ann", 2, 0));
    }

    #[test]
    fn an_outcome_has_a_code_and_a_message() {
        let parts = [number(ENUMERATED, 49), element(OCTETS, b""), element(OCTETS, b"no")];
        let bytes = message(1, group(0x61, &parts));
        let outcome = LdapOutcome { code: code::INVALID_CREDENTIALS, message: "no".to_owned() };
        assert_eq!(LdapResponse::parse(&bytes), Ok(LdapResponse { id: 1, operation: LdapOperation::Done(outcome) }));
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = length(&bytes);
            let _ = LdapResponse::parse(&bytes);
        }
    }
}
