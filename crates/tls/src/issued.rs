//! Checks of certificates that an authority has sent, before they replace those in use.

use std::time::SystemTime;

use super::acme::IssuedCertificate;
use super::identity;
use super::managed::{Validity, of_chain};
use config::tls::managed::ManagedDomain;

/// Whether these certificates may replace those of the domain at the time `now`. `present`: the validity of the stored
/// ones, if they are for all names and key types. The error says why not.
pub fn check(
    certificates: &[IssuedCertificate],
    domain: &ManagedDomain,
    present: Option<Validity>,
    now: SystemTime,
) -> Result<(), String> {
    let is_there = |key| certificates.iter().any(|certificate| certificate.key_type == key);
    if certificates.is_empty() || !domain.settings.keys.iter().all(|key| is_there(*key)) {
        return Err("the authority sent no certificate for some of the key types of MDPrivateKeys".to_owned());
    }
    let mut first: Option<SystemTime> = None;
    for certificate in certificates {
        let validity = of_chain(&certificate.chain, &domain.names);
        let validity = validity.filter(|_| identity::fit(&certificate.chain, &certificate.key));
        let names = || domain.names.join(" ");
        let validity =
            validity.ok_or_else(|| format!("the authority sent a certificate that is not for {}", names()))?;
        if validity.until <= now {
            return Err("the authority sent a certificate that has expired; check the clock of this machine".to_owned());
        }
        if validity.from > now {
            return Err(
                "the authority sent a certificate that is not valid yet; check the clock of this machine".to_owned()
            );
        }
        first = Some(first.map_or(validity.until, |first| first.min(validity.until)));
    }
    let present = present.filter(|present| present.until > now);
    if present.is_some_and(|present| first.is_none_or(|first| first <= present.until)) {
        return Err("the authority sent a certificate that does not end later than the present one".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use config::At;
    use config::tls::managed::{DomainSettings, KeyType};
    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    const NAME: &str = "www.one.test";

    fn domain(keys: &[KeyType]) -> ManagedDomain {
        let settings = DomainSettings { keys: keys.to_vec(), ..DomainSettings::default() };
        let names = vec![NAME.to_owned()];
        ManagedDomain { names, at: At::default(), settings, challenges: Vec::new(), is_renewed: true }
    }

    /// A certificate that is valid from 2030-01-01 to 2030-04-01.
    fn issued(name: &str) -> IssuedCertificate {
        let mut params = CertificateParams::new([name.to_owned()]).expect("a name");
        params.not_before = rcgen::date_time_ymd(2030, 1, 1);
        params.not_after = rcgen::date_time_ymd(2030, 4, 1);
        let key = KeyPair::generate().expect("a key");
        let chain = params.self_signed(&key).expect("a certificate").pem();
        IssuedCertificate { key_type: KeyType::P256, chain, key: key.serialize_pem() }
    }

    #[test]
    fn certificates_that_are_no_better_than_the_present_ones_are_refused() {
        let (one, p256) = ([issued(NAME)], domain(&[KeyType::P256]));
        let validity = of_chain(&one[0].chain, &p256.names).expect("a certificate");
        let now = validity.from + DAY;
        let ends = |until| Some(Validity { from: until - DAY * 90, until });
        let why = |certificates: &[IssuedCertificate], domain: &ManagedDomain, present, now| {
            check(certificates, domain, present, now).err().unwrap_or_default()
        };
        assert_eq!(check(&one, &p256, None, now), Ok(()));
        assert_eq!(check(&one, &p256, ends(validity.until - DAY), now), Ok(()));
        assert_eq!(check(&one, &p256, ends(now - DAY), now), Ok(()), "the present one has expired");
        assert!(why(&one, &p256, ends(validity.until), now).contains("does not end later than the present one"));
        assert!(why(&one, &p256, None, validity.until).contains("has expired; check the clock"));
        assert!(why(&one, &p256, None, validity.from - DAY).contains("not valid yet; check the clock"));
        assert!(why(&[], &domain(&[]), None, now).contains("no certificate"));
        let both = domain(&[KeyType::P256, KeyType::Rsa(2048)]);
        assert!(why(&one, &both, None, now).contains("key types of MDPrivateKeys"));
        assert!(why(&[issued("www.two.test")], &p256, None, now).contains("is not for www.one.test"));
        let stranger = IssuedCertificate { key: issued(NAME).key, ..issued(NAME) };
        assert!(why(&[stranger], &p256, None, now).contains("is not for www.one.test"));
    }
}
