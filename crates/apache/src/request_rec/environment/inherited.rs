//! Variables that a request gets from the front, and hands on to its subrequests.

use wire::frame::{Field, Frame};

use super::super::RequestRec;
use super::super::tables::Id;
use super::EnvSink;

/// The variables that the configuration set for this request, or for the request redirected to it. Variables of PSGI
/// and CGI follow and replace them.
pub(crate) fn variables(frame: &Frame, each: EnvSink<'_>) {
    for pair in frame.field(Field::Env).split(|byte| *byte == 0) {
        if let Some(at) = pair.iter().position(|byte| *byte == b'=') {
            each(&pair[..at], &pair[at + 1..]);
        }
    }
}

/// Whether the front has redirected the client's request to this URI.
pub(crate) fn is_redirected(frame: &Frame) -> bool {
    frame.field(Field::Env).split(|byte| *byte == 0).any(|pair| pair.starts_with(b"REDIRECT_URL="))
}

/// The variables that a subrequest inherits from its main request, encoded as [`Field::Env`].
pub(crate) fn handed_on(r: &RequestRec) -> Vec<u8> {
    if !r.tables.is_filled(Id::SubprocessEnv) {
        return r.frame.field(Field::Env).to_vec();
    }
    let of_path = |name: &[u8]| matches!(name, b"PATH_INFO" | b"PATH_TRANSLATED");
    encoded(r.tables.of(Id::SubprocessEnv).iter().filter(|(name, _)| !of_path(name)))
}

pub(crate) fn encoded<'a>(pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Vec<u8> {
    let sound = pairs.filter(|(name, value)| !name.contains(&b'=') && ![*name, *value].concat().contains(&0));
    sound.flat_map(|(name, value)| [name, b"=", value, b"\0"].concat()).collect()
}
