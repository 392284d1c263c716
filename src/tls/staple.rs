//! OCSP responses, as far as we must understand them: until when they are good. An old one is worse than none: browsers that
//! would have asked nobody refuse the site.

use std::time::SystemTime;

use x509_cert::der::asn1::{AnyRef, GeneralizedTime};
use x509_cert::der::{Decode, Reader, SliceReader, Tag, Tagged};

/// `OCSPResponseStatus`
const SUCCESSFUL: &[u8] = &[0];

/// Until when a response (DER) may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Good {
    /// It says.
    Until(SystemTime),
    /// It does not say.
    Always,
    /// It is none, or one that says nothing of a certificate.
    Never,
}

impl Good {
    /// What `response` says.
    pub fn of(response: &[u8]) -> Good {
        match ends(response) {
            None => Good::Never,
            Some(ends) => ends.into_iter().min().map_or(Good::Always, Good::Until),
        }
    }

    /// Whether it may be sent at this time.
    pub fn is_good(self, now: SystemTime) -> bool {
        match self {
            Good::Until(end) => now < end,
            Good::Always => true,
            Good::Never => false,
        }
    }
}

/// `nextUpdate` of each answer. The names are those of RFC 6960.
fn ends(response: &[u8]) -> Option<Vec<SystemTime>> {
    let response = elements(one(response)?)?;
    let [status, response_bytes] = response.first_chunk::<2>()?;
    if status.value() != SUCCESSFUL {
        return None;
    }
    let response_bytes = elements(one(response_bytes.value())?)?;
    let basic = elements(one(response_bytes.get(1)?.value())?)?;
    let data = elements(*basic.first()?)?;
    // All else in it has a number, or is a time.
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

/// What has the number 0 behind `thisUpdate`; before that it is `certStatus`.
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

fn elements(of: AnyRef<'_>) -> Option<Vec<AnyRef<'_>>> {
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
    fn what_is_no_response_is_never_good() {
        for bytes in [&b""[..], b"nonsense", &[0x30, 0x03, 0x0a, 0x01, 0x03], &[0x30, 0x82, 0xff], &[0x30, 0x00]] {
            assert_eq!(Good::of(bytes), Good::Never, "{bytes:?}");
        }
    }
}
