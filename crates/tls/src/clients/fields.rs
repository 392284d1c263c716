//! Fields of certificates and lists that the verifier does not show.

use std::time::SystemTime;

use rustls::pki_types::CertificateDer;
use x509_cert::Certificate;
use x509_cert::der::asn1::AnyRef;
use x509_cert::der::{Decode, Encode, Tag, Tagged};
use x509_cert::time::Time;

use crate::staple::elements;

/// Whether a certificate names itself as its issuer.
pub fn is_self_issued(certificate: &CertificateDer<'_>) -> bool {
    Certificate::from_der(certificate).is_ok_and(|it| it.tbs_certificate().subject() == it.tbs_certificate().issuer())
}

/// When the next list is due, if the list (DER) has a time for that.
pub fn next_update(list: &[u8]) -> Option<SystemTime> {
    let body = *elements(AnyRef::from_der(list).ok()?)?.first()?;
    let is_time = |part: &AnyRef<'_>| matches!(part.tag(), Tag::UtcTime | Tag::GeneralizedTime);
    // The first time is that of this list.
    let next = elements(body)?.into_iter().filter(is_time).nth(1)?;
    Some(Time::from_der(&next.to_der().ok()?).ok()?.to_system_time())
}
