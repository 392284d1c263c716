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

/// When a list (DER) was made, and when the next one is due, as far as the list contains it.
pub fn updates(list: &[u8]) -> [Option<SystemTime>; 2] {
    let mut times = times(list).unwrap_or_default().into_iter();
    [times.next(), times.next()]
}

/// The times of a list itself: those of its entries are deeper.
fn times(list: &[u8]) -> Option<Vec<SystemTime>> {
    let body = *elements(AnyRef::from_der(list).ok()?)?.first()?;
    let is_time = |part: &AnyRef<'_>| matches!(part.tag(), Tag::UtcTime | Tag::GeneralizedTime);
    let times = elements(body)?.into_iter().filter(is_time).take(2);
    times.map(|time| Some(Time::from_der(&time.to_der().ok()?).ok()?.to_system_time())).collect()
}
