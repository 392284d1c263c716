//! `Accept-Encoding` (RFC 9110, section 12.5.3): the content coding that a client prefers.

use http::header::{ACCEPT_ENCODING, HeaderMap};

use config::response::compress::Coding;

/// The coding of `offered` with the highest quality; the first one of equals. `None`: the client accepts none of them
/// or prefers the plain response.
pub fn choose(headers: &HeaderMap, offered: &[Coding]) -> Option<Coding> {
    let mut best = None;
    if headers.contains_key(ACCEPT_ENCODING) {
        let plain = quality(headers, |name| name.eq_ignore_ascii_case("identity")).unwrap_or(0);
        let any = quality(headers, |name| name == "*").unwrap_or(0);
        for coding in offered {
            let quality = quality(headers, |name| is_named(*coding, name)).unwrap_or(any);
            if quality > 0 && quality >= plain && best.is_none_or(|(other, _)| quality > other) {
                best = Some((quality, *coding));
            }
        }
    }
    best.map(|(_, coding)| coding)
}

/// The quality, in thousandths, of the first item whose name `is_meant` accepts.
fn quality(headers: &HeaderMap, is_meant: impl Fn(&str) -> bool) -> Option<u16> {
    let lists = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let items = lists.flat_map(|list| list.split(',')).map(|item| item.split_once(';').unwrap_or((item, "")));
    let (_, parameters) = { items }.find(|(name, _)| is_meant(name.trim()))?;
    Some(parameters.split(';').map(str::trim).find_map(weight).unwrap_or(1000))
}

fn is_named(coding: Coding, name: &str) -> bool {
    // RFC 9110, section 8.4.1.3: x-gzip is equivalent to gzip.
    name.eq_ignore_ascii_case(coding.token()) || coding == Coding::Gzip && name.eq_ignore_ascii_case("x-gzip")
}

/// Parses `q=0.8` as 800. An invalid weight counts as 0, so that the client gets no coding that it may have refused.
fn weight(parameter: &str) -> Option<u16> {
    let value = parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q="))?;
    let (whole, part) = value.split_once('.').unwrap_or((value, ""));
    let is_part = part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
    let thousandths = format!("{part:0<3}").parse().unwrap_or(0);
    Some(match whole {
        "0" if is_part => thousandths,
        "1" if is_part && thousandths == 0 => 1000,
        _ => 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Coding::{Brotli, Gzip, Zstd};
    use http::header::HeaderValue;
    use proptest::prelude::*;

    fn chosen(value: &str, offered: &[Coding]) -> Option<Coding> {
        let value = HeaderValue::from_str(value).expect("a value");
        choose(&HeaderMap::from_iter([(ACCEPT_ENCODING, value)]), offered)
    }

    #[test]
    fn accept_encoding_decides_whether_gzip_is_used() {
        for (value, expected) in [
            ("gzip, deflate, br", true),
            ("deflate, GZIP;q=0.5", true),
            ("x-gzip", true),
            ("gzip;q=0", false),
            ("gzip; q=0.0, *", false),
            ("gzip;q=0.000", false),
            ("gzip;Q=0", false),
            ("gzip;q=nonsense", false),
            ("gzip;q=0.0001", false),
            ("gzip;q=2", false),
            ("gzip;q=1.000", true),
            ("*", true),
            ("*;q=0", false),
            ("br", false),
            ("gzipped", false),
            ("identity, gzip;q=0.5", false),
            ("identity;q=0.5, gzip", true),
            ("", false),
        ] {
            assert_eq!(chosen(value, &[Gzip]), expected.then_some(Gzip), "{value}");
        }
        assert_eq!(choose(&HeaderMap::new(), &[Gzip]), None);
    }

    #[test]
    fn accept_encoding_decides_and_on_a_tie_the_configuration() {
        for (value, expected) in [
            ("gzip, deflate, br, zstd", Some(Brotli)),
            ("gzip;q=1.0, br;q=0.9", Some(Gzip)),
            ("gzip;q=0.5, zstd;q=0.7, br;q=0.6", Some(Zstd)),
            ("*;q=0.1, gzip;q=0.2", Some(Gzip)),
            ("*", Some(Brotli)),
            ("*, br;q=0", Some(Gzip)),
            ("deflate", None),
        ] {
            assert_eq!(chosen(value, &[Brotli, Gzip, Zstd]), expected, "{value}");
        }
        assert_eq!(chosen("br, gzip", &[Gzip, Brotli]), Some(Gzip));
    }

    proptest! {
        /// For any header, the chosen coding is acceptable to the client and among its most preferred ones.
        #[test]
        fn no_client_gets_a_coding_that_it_does_not_accept(
            items in prop::collection::vec((0..6_usize, 0..=1000_u16, any::<bool>()), 0..8),
            noise in "[ -~]{0,24}",
        ) {
            const NAMES: [&str; 6] = ["br", "GZIP", "zstd", "*", "identity", "deflate"];
            let text: Vec<String> = items.iter().map(|(name, quality, blank)| {
                let (before, quality) = (if *blank { " " } else { "" }, f64::from(*quality) / 1000.0);
                format!("{before}{};{before}q={quality:.3}", NAMES[*name])
            }).collect();
            let quality_of = |wanted: &str| {
                let of = |name: &str| items.iter().find(|(known, ..)| NAMES[*known].eq_ignore_ascii_case(name));
                of(wanted).map(|(_, quality, _)| *quality)
            };
            let of = |coding: Coding| quality_of(coding.token()).or_else(|| quality_of("*")).unwrap_or(0);
            match chosen(&text.join(","), &Coding::ALL) {
                Some(coding) => {
                    prop_assert!(of(coding) > 0 && of(coding) >= quality_of("identity").unwrap_or(0));
                    prop_assert!(Coding::ALL.iter().all(|other| of(*other) <= of(coding)));
                }
                None => prop_assert!(Coding::ALL.iter().all(|other| of(*other) < quality_of("identity").unwrap_or(0).max(1))),
            }
            // Arbitrary text must not panic, and selects only codings that it names.
            if let Some(coding) = chosen(&noise, &Coding::ALL) {
                prop_assert!(noise.contains('*') || noise.to_ascii_lowercase().contains(coding.token()));
            }
        }
    }
}
