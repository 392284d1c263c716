//! Settings of a managed domain: the directives that may stand in `<MDomainSet>`, and outside for all domains.

use std::time::Duration;

use crate::draft::Draft;
use crate::model::tls::managed::{
    AccountBinding, ChallengeType, DomainSettings, KeyType, RenewMode, RenewWindow, RequireHttps,
};
use crate::syntax::value;
use crate::table::client::tls::named;

/// Let's Encrypt, for everybody.
const LETS_ENCRYPT: &str = "https://acme-v02.api.letsencrypt.org/directory";
/// Let's Encrypt's certificates for tests, which browsers refuse.
const LETS_ENCRYPT_TEST: &str = "https://acme-staging-v02.api.letsencrypt.org/directory";

/// Applies the arguments of a directive to the settings of a domain.
pub(super) type Set = fn(&mut Draft, &mut DomainSettings, &[String]) -> Result<(), String>;

/// The directives of `<MDomainSet>` about its certificate.
pub(super) const SETTERS: &[(&str, Set)] = &[
    ("MDCertificateAgreement", agreement),
    ("MDCertificateAuthority", authorities),
    ("MDContactEmail", contact),
    ("MDCAChallenges", challenges),
    ("MDRenewMode", renew_mode),
    ("MDDriveMode", renew_mode),
    ("MDRenewWindow", renew_window),
    ("MDPrivateKeys", private_keys),
    ("MDMembers", members),
    ("MDRequireHttps", require_https),
    ("MDCertificateFile", certificate_file),
    ("MDCertificateKeyFile", key_file),
    ("MDExternalAccountBinding", account),
];

pub(super) fn adds_names(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "auto" => Some(true),
        "manual" => Some(false),
        _ => None,
    }
}

fn one(args: &[String]) -> Result<&str, String> {
    match args {
        [one] => Ok(one),
        _ => Err(format!("expected one argument, got \"{}\"", args.join(" "))),
    }
}

pub(super) fn agreement(_: &mut Draft, settings: &mut DomainSettings, args: &[String]) -> Result<(), String> {
    let word = one(args)?;
    if !word.eq_ignore_ascii_case("accepted") {
        return Err(format!("expected accepted, got \"{word}\"; read the terms of the authority first"));
    }
    settings.agreed = Some(true);
    Ok(())
}

pub(super) fn authorities(_: &mut Draft, settings: &mut DomainSettings, args: &[String]) -> Result<(), String> {
    let url = |text: &String| match text.to_ascii_lowercase().as_str() {
        "letsencrypt" => Ok(LETS_ENCRYPT.to_owned()),
        "letsencrypt-test" => Ok(LETS_ENCRYPT_TEST.to_owned()),
        lower if lower.starts_with("https://") && lower.len() > "https://".len() => Ok(text.clone()),
        _ => Err(format!("expected letsencrypt, letsencrypt-test or a URL with https://, got \"{text}\"")),
    };
    settings.authorities = args.iter().map(url).collect::<Result<_, _>>()?;
    Ok(())
}

pub(super) fn contact(_: &mut Draft, settings: &mut DomainSettings, args: &[String]) -> Result<(), String> {
    let address = one(args)?;
    let address = address.strip_prefix("mailto:").unwrap_or(address);
    if !address.contains('@') {
        return Err(format!("expected an email address, got \"{address}\""));
    }
    settings.contact = Some(address.to_owned());
    Ok(())
}

pub(super) fn challenges(draft: &mut Draft, settings: &mut DomainSettings, args: &[String]) -> Result<(), String> {
    let mut all = Vec::new();
    for arg in args {
        match arg.to_ascii_lowercase().as_str() {
            "http-01" => all.push(ChallengeType::Http01),
            "tls-alpn-01" => all.push(ChallengeType::TlsAlpn01),
            "dns-01" => draft.warn("dns-01 is not supported, and not tried"),
            _ => return Err(format!("expected http-01 or tls-alpn-01, got \"{arg}\"")),
        }
    }
    if all.is_empty() {
        return Err("dns-01 is not supported; add http-01 or tls-alpn-01".to_owned());
    }
    settings.challenges = Some(all);
    Ok(())
}

pub(super) fn renew_mode(_: &mut Draft, settings: &mut DomainSettings, args: &[String]) -> Result<(), String> {
    let word = one(args)?;
    settings.renew_mode = Some(match word.to_ascii_lowercase().as_str() {
        "auto" => RenewMode::Auto,
        "always" => RenewMode::Always,
        "manual" => RenewMode::Manual,
        _ => return Err(format!("expected auto, always or manual, got \"{word}\"")),
    });
    Ok(())
}

pub(super) fn renew_window(_: &mut Draft, settings: &mut DomainSettings, args: &[String]) -> Result<(), String> {
    const DAY: u64 = 24 * 60 * 60;
    let text = one(args)?;
    let wrong = || format!("expected a part like 33% or a time like 21d or 12h, got \"{text}\"");
    let days = |digits: &str| digits.parse::<u32>().ok().map(|days| Duration::from_secs(u64::from(days) * DAY));
    settings.renew_window = Some(if let Some(percent) = text.strip_suffix('%') {
        let percent = percent.parse().ok().filter(|percent| (1..100).contains(percent));
        RenewWindow::Percent(percent.ok_or_else(wrong)?)
    } else if let Some(time) = days(text.strip_suffix(['d', 'D']).unwrap_or(text)) {
        RenewWindow::Time(time)
    } else {
        RenewWindow::Time(value::duration(text).map_err(|_| wrong())?)
    });
    Ok(())
}

pub(super) fn private_keys(_: &mut Draft, settings: &mut DomainSettings, args: &[String]) -> Result<(), String> {
    let mut keys: Vec<KeyType> = Vec::new();
    let mut words = args.iter().map(|arg| arg.to_ascii_lowercase()).peekable();
    while let Some(word) = words.next() {
        let key = match word.as_str() {
            "default" | "secp256r1" | "p-256" | "prime256v1" => KeyType::P256,
            "secp384r1" | "p-384" => KeyType::P384,
            "rsa" => {
                let bits = words.next_if(|next| next.parse::<u32>().is_ok());
                rsa(bits.as_deref().unwrap_or("2048"))?
            }
            word if word.starts_with("rsa") => rsa(word.trim_start_matches("rsa"))?,
            _ => return Err(format!("expected secp256r1, secp384r1 or RSA with a number of bits, got \"{word}\"")),
        };
        if keys.contains(&key) {
            return Err(format!("duplicate {word}; remove one"));
        }
        keys.push(key);
    }
    settings.keys = keys;
    Ok(())
}

fn rsa(bits: &str) -> Result<KeyType, String> {
    let number = bits.parse().ok().filter(|bits| (2048..=8192).contains(bits));
    number.map(KeyType::Rsa).ok_or_else(|| format!("RSA: expected 2048 to 8192 bits, got \"{bits}\""))
}

pub(super) fn members(_: &mut Draft, settings: &mut DomainSettings, args: &[String]) -> Result<(), String> {
    let word = one(args)?;
    settings.adds_names = Some(adds_names(word).ok_or_else(|| format!("expected auto or manual, got \"{word}\""))?);
    Ok(())
}

/// `MDMember` outside of `<MDomainSet>`
pub(super) fn member(draft: &mut Draft, settings: &mut DomainSettings, args: &[String]) -> Result<(), String> {
    members(draft, settings, args).map_err(|error| format!("{error}: names are allowed only in <MDomainSet>"))
}

pub(super) fn require_https(_: &mut Draft, settings: &mut DomainSettings, args: &[String]) -> Result<(), String> {
    let word = one(args)?;
    settings.require_https = Some(match word.to_ascii_lowercase().as_str() {
        "off" => RequireHttps::Off,
        "temporary" => RequireHttps::Temporary,
        "permanent" => RequireHttps::Permanent,
        _ => return Err(format!("expected off, temporary or permanent, got \"{word}\"")),
    });
    Ok(())
}

fn certificate_file(draft: &mut Draft, settings: &mut DomainSettings, args: &[String]) -> Result<(), String> {
    let path = draft.path(one(args)?);
    settings.certificates.push(named(draft, path, "MDCertificateFile"));
    Ok(())
}

fn key_file(draft: &mut Draft, settings: &mut DomainSettings, args: &[String]) -> Result<(), String> {
    let path = draft.path(one(args)?);
    settings.key_files.push(named(draft, path, "MDCertificateKeyFile"));
    Ok(())
}

pub(super) fn account(draft: &mut Draft, settings: &mut DomainSettings, args: &[String]) -> Result<(), String> {
    settings.account = Some(match args {
        [none] if none.eq_ignore_ascii_case("none") => AccountBinding::None,
        [file] => {
            let path = draft.path(file);
            AccountBinding::File(named(draft, path, "MDExternalAccountBinding"))
        }
        [id, hmac] => AccountBinding::Key { id: id.clone(), hmac: hmac.clone() },
        _ => return Err("expected a key id and an HMAC key, a file, or none".to_owned()),
    });
    Ok(())
}
