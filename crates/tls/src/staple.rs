//! Validity of OCSP responses. An expired response is worse than a missing one: browsers that do not query OCSP
//! themselves would refuse the site.

use std::time::SystemTime;

use x509_cert::der::asn1::{AnyRef, GeneralizedTime};
use x509_cert::der::{Decode, Reader, SliceReader, Tag, Tagged};

/// `OCSPResponseStatus` of a successful response.
const SUCCESSFUL: &[u8] = &[0];

/// Validity of a response (DER).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Good {
    /// Valid until this time.
    Until(SystemTime),
    /// Valid without a limit.
    Always,
    /// Invalid, or without information about a certificate.
    Never,
}

impl Good {
    /// Validity of `response`.
    pub fn of(response: &[u8]) -> Good {
        match ends(response) {
            None => Good::Never,
            Some(ends) => ends.into_iter().min().map_or(Good::Always, Good::Until),
        }
    }

    /// Whether the response is valid at this time.
    pub fn is_good(self, now: SystemTime) -> bool {
        match self {
            Good::Until(end) => now < end,
            Good::Always => true,
            Good::Never => false,
        }
    }
}

/// `nextUpdate` of each single response. Names as in RFC 6960.
fn ends(response: &[u8]) -> Option<Vec<SystemTime>> {
    let response = elements(one(response)?)?;
    let [status, response_bytes] = response.first_chunk::<2>()?;
    if status.value() != SUCCESSFUL {
        return None;
    }
    let response_bytes = elements(one(response_bytes.value())?)?;
    let basic = elements(one(response_bytes.get(1)?.value())?)?;
    let data = elements(*basic.first()?)?;
    // The other elements have a tag number, or are times.
    let responses = data.into_iter().find(|part| part.tag() == Tag::Sequence)?;
    let answers = elements(responses)?;
    let mut ends = Vec::new();
    for answer in &answers {
        if let Some(end) = next_update(*answer)? {
            ends.push(end);
        }
    }
    (!answers.is_empty()).then_some(ends)
}

/// `nextUpdate`: the element with tag number 0 after `thisUpdate`. Before it, tag number 0 is `certStatus`.
fn next_update(answer: AnyRef<'_>) -> Option<Option<SystemTime>> {
    let mut parts = elements(answer)?.into_iter().skip_while(|part| part.tag() != Tag::GeneralizedTime).skip(1);
    let Some(next) = parts.find(|part| part.tag().number().value() == 0 && part.tag().is_context_specific()) else {
        return Some(None);
    };
    let time = GeneralizedTime::from_der(next.value()).ok()?;
    Some(Some(time.to_system_time()))
}

fn one(bytes: &[u8]) -> Option<AnyRef<'_>> {
    AnyRef::from_der(bytes).ok()
}

/// The elements of a sequence or set.
pub fn elements(of: AnyRef<'_>) -> Option<Vec<AnyRef<'_>>> {
    let mut reader = SliceReader::new(of.value()).ok()?;
    let mut found = Vec::new();
    while !reader.is_finished() {
        found.push(reader.decode().ok()?);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_response_is_never_good() {
        for bytes in [&b""[..], b"nonsense", &[0x30, 0x03, 0x0a, 0x01, 0x03], &[0x30, 0x82, 0xff], &[0x30, 0x00]] {
            assert_eq!(Good::of(bytes), Good::Never, "{bytes:?}");
        }
    }
}
