//! The values behind `Apache::Server`, with or without a request.

use super::field::{Number, Text};
use crate::PlaceConfig;
use crate::log::own_level;

pub(crate) fn server_text(place: &PlaceConfig, field: Text) -> Option<&[u8]> {
    let value = match field {
        Text::DocumentRoot => &place.document_root,
        Text::ServerRoot => &place.server_root,
        Text::ServerHostname => &place.server_name,
        Text::ServerAdmin => &place.server_admin,
        Text::ServerSoftware => &place.server_software,
        Text::ErrorFname => &place.error_log,
        Text::PerlOptions => &place.perl_options,
        _ => return None,
    };
    Some(value.as_bytes())
}

pub(crate) fn server_number(place: &PlaceConfig, field: Number) -> i64 {
    match field {
        Number::IsVirtual => i64::from(place.is_virtual),
        Number::LogLevel => own_level().unwrap_or(place.log_level) as i64,
        Number::Host => i64::from(place.host),
        Number::Timeout => i64::from(place.timeout),
        Number::ServerPort => i64::from(place.server_port.unwrap_or(place.listen_port)),
        _ => 0,
    }
}
