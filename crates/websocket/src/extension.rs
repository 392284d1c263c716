//! The negotiation of permessage-deflate (RFC 7692, sections 5 and 7.1).

use http::header::HeaderValue;

/// The name of the extension.
const NAME: &str = "permessage-deflate";
/// The largest window, 32 KiB.
const MAX_BITS: u8 = 15;
/// The smallest window that zlib compresses with.
const MIN_BITS: u8 = 9;

/// The parameters of permessage-deflate on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageDeflate {
    window_bits: u8,
}

impl MessageDeflate {
    /// The parameters for the first acceptable offer of the fields `Sec-WebSocket-Extensions`.
    pub fn negotiate<'a>(fields: impl Iterator<Item = &'a HeaderValue>) -> Option<MessageDeflate> {
        let mut offers = fields.filter_map(|field| field.to_str().ok()).flat_map(|field| field.split(','));
        offers.find_map(accepted)
    }

    /// The base-2 logarithm of the window that messages to the client are compressed with, 9 to 15.
    pub fn window_bits(&self) -> u8 {
        self.window_bits
    }

    /// The value of `Sec-WebSocket-Extensions` in the response.
    pub fn field(&self) -> String {
        let bits = match self.window_bits {
            MAX_BITS => String::new(),
            bits => format!("; server_max_window_bits={bits}"),
        };
        format!("{NAME}; server_no_context_takeover; client_no_context_takeover{bits}")
    }
}

/// The parameters for one offer, unless it is another extension's or has a parameter that RFC 7692 does not allow.
fn accepted(offer: &str) -> Option<MessageDeflate> {
    let mut parts = offer.split(';').map(str::trim);
    if !parts.next()?.eq_ignore_ascii_case(NAME) {
        return None;
    }
    let (mut window_bits, mut seen) = (MAX_BITS, Vec::new());
    for part in parts {
        let (name, value) = match part.split_once('=') {
            Some((name, value)) => (name.trim(), Some(unquoted(value.trim()))),
            None => (part, None),
        };
        if seen.contains(&name) || seen.len() > 4 {
            return None;
        }
        seen.push(name);
        match (name, value) {
            ("server_no_context_takeover" | "client_no_context_takeover" | "client_max_window_bits", None) => {}
            // The server reads with the largest window, whatever the client uses.
            ("client_max_window_bits", Some(value)) => drop(bits(value, 8)?),
            ("server_max_window_bits", Some(value)) => window_bits = bits(value, MIN_BITS)?,
            _ => return None,
        }
    }
    Some(MessageDeflate { window_bits })
}

fn unquoted(value: &str) -> &str {
    value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value)
}

/// A number of bits, which has no leading zeros.
fn bits(value: &str, least: u8) -> Option<u8> {
    let number = value.parse().ok().filter(|_| !value.starts_with(['0', '+']))?;
    (least..=MAX_BITS).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_acceptable_offer_is_taken() {
        for (offers, bits) in [
            (&["permessage-deflate"][..], Some(15)),
            (&["permessage-deflate; client_max_window_bits"], Some(15)),
            (&["permessage-deflate; client_max_window_bits=8; server_no_context_takeover"], Some(15)),
            (&["Permessage-Deflate;server_max_window_bits=\"10\""], Some(10)),
            (&["x-webkit-deflate-frame", "permessage-deflate; server_max_window_bits=9"], Some(9)),
            (&["permessage-deflate; server_max_window_bits=8, permessage-deflate"], Some(15)),
            (&["permessage-deflate; server_max_window_bits"], None),
            (&["permessage-deflate; server_max_window_bits=16"], None),
            (&["permessage-deflate; server_max_window_bits=010"], None),
            (&["permessage-deflate; client_no_context_takeover=1"], None),
            (&["permessage-deflate; client_max_window_bits; client_max_window_bits"], None),
            (&["permessage-deflate; other"], None),
            (&["", ",;=,"], None),
        ] {
            let fields: Vec<HeaderValue> = offers.iter().map(|offer| HeaderValue::from_static(offer)).collect();
            assert_eq!(MessageDeflate::negotiate(fields.iter()).map(|found| found.window_bits), bits, "{offers:?}");
        }
    }

    #[test]
    fn the_response_names_the_window_if_it_is_smaller() {
        let base = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
        assert_eq!(MessageDeflate { window_bits: 15 }.field(), base);
        assert_eq!(MessageDeflate { window_bits: 9 }.field(), format!("{base}; server_max_window_bits=9"));
    }
}
