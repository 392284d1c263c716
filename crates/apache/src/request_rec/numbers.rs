//! The integer fields of a request record, read and set by methods of `$r`.

use std::time::{Duration, UNIX_EPOCH};

use super::RequestRec;
use super::field::{Number, Text};
use super::server::server_number;
use super::tables::Id;
use super::translation::Translation;
use crate::error_page::is_bodyless;
use base::method::INVALID;

impl RequestRec {
    pub fn number(&mut self, field: Number) -> i64 {
        match field {
            Number::Status => i64::from(self.status),
            Number::MethodNumber => self.method_number.unwrap_or_else(|| self.number_of_method()),
            Number::HeaderOnly => i64::from(self.is_head()),
            Number::NoCache => i64::from(self.no_cache),
            Number::SentHeader => i64::from(self.output.has_head() || self.output.sent_header),
            Number::ExpectsHeader => {
                i64::from(self.place.send_header && !self.output.has_head() && !self.output.sent_header)
            }
            Number::BytesSent => self.output.bytes_sent() as i64,
            Number::RequestTime => (self.frame.received() / 1_000_000) as i64,
            Number::RemotePort => i64::from(self.frame.remote_port()),
            Number::LocalPort => i64::from(self.frame.local_port()),
            Number::ServerPort => i64::from(self.frame.server_port()),
            Number::AllowOptions => self.place.options,
            Number::Aborted => {
                self.look_for_client();
                i64::from(self.is_unheard() || self.output.client_hung_up)
            }
            Number::Unheard => i64::from(self.is_unheard()),
            Number::Gone => i64::from(self.is_gone()),
            Number::Proxyreq => self.proxyreq,
            Number::HasFile => i64::from(self.has_set(Text::Filename) || self.translation == Translation::Done),
            Number::BodyLength => self.body_length() as i64,
            Number::Satisfies => self.place.satisfies as i64,
            Number::SomeAuthRequired => i64::from(self.requires_user()),
            Number::Allowed => self.allowed,
            Number::Clength => self.clength,
            Number::IsEarly => i64::from(self.stacks.is_early(&self.place)),
            Number::IsVirtual | Number::LogLevel | Number::Timeout | Number::Host => server_number(&self.place, field),
        }
    }

    pub fn body_length(&self) -> u64 {
        self.body_length.unwrap_or_else(|| self.frame.body_length())
    }

    /// Whether further output would be dropped.
    fn is_unheard(&self) -> bool {
        self.output.failed.is_some() || self.has_client_left()
    }

    /// Whether the response has no receiver. The front also abandons a response without a body, whose client is still
    /// connected: as in httpd, its program runs to the end.
    fn has_client_left(&self) -> bool {
        self.output.front_is_gone() || (self.output.client_is_gone && !self.has_no_body())
    }

    /// Whether the client left before the end of the response. False after the death of the front: programs may finish.
    pub fn is_gone(&self) -> bool {
        let has_front = !self.output.front_is_gone() && !self.output.front_is_lost;
        has_front && self.has_client_left() && !self.output.is_ended()
    }

    /// Whether the rest of the response would be dropped.
    pub fn is_unwanted(&self) -> bool {
        self.is_unheard() || self.output.client_is_gone
    }

    fn has_no_body(&self) -> bool {
        self.is_head() || self.output.head_status().is_some_and(is_bodyless)
    }

    /// Whether a `Require` line for this method demands a user.
    fn requires_user(&mut self) -> bool {
        let bit = 1i64.checked_shl(self.number(Number::MethodNumber) as u32).unwrap_or(0);
        self.place.requires.iter().any(|line| line.of_user && line.method_mask & bit != 0)
    }

    fn number_of_method(&self) -> i64 {
        self.known_text(Text::Method).map_or(INVALID, base::method::number) as i64
    }

    pub fn set_number(&mut self, field: Number, value: i64) {
        match field {
            Number::Status => self.status = u16::try_from(value).unwrap_or(0),
            Number::MethodNumber => self.method_number = Some(value),
            Number::Allowed => self.allowed = value,
            Number::Clength => self.clength = value,
            Number::BodyLength => self.body_length = u64::try_from(value).ok(),
            Number::NoCache => self.set_no_cache(value != 0),
            Number::Proxyreq => self.proxyreq = value,
            Number::SentHeader => self.output.sent_header = value != 0,
            Number::BytesSent => self.output.count_as(u64::try_from(value).unwrap_or(0)),
            _ => {}
        }
    }

    fn set_no_cache(&mut self, wanted: bool) {
        self.no_cache = wanted;
        let received = UNIX_EPOCH + Duration::from_micros(self.frame.received());
        let now = httpdate::fmt_http_date(received);
        let headers = self.tables.of_mut(Id::HeadersOut);
        for (name, value) in [(&b"Pragma"[..], "no-cache"), (b"Cache-control", "no-cache"), (b"Expires", &now)] {
            match wanted {
                true => headers.set(name, value.as_bytes()),
                false => headers.unset(name),
            }
        }
    }
}
