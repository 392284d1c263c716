//! Which of mod_perl's two APIs this process speaks.

use std::sync::atomic::{AtomicBool, Ordering};

/// mod_perl's two APIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// `Apache::*`
    One,
    /// `Apache2::*`, `APR::*`, `ModPerl::*`
    Two,
}

static SPEAKS_TWO: AtomicBool = AtomicBool::new(false);

/// Sets the API of this process.
pub fn speak(api: Api) {
    SPEAKS_TWO.store(api == Api::Two, Ordering::Relaxed);
}

/// The API of this process.
pub fn api() -> Api {
    if SPEAKS_TWO.load(Ordering::Relaxed) { Api::Two } else { Api::One }
}

impl Api {
    /// The value of `$ENV{MOD_PERL}`, by which modules recognize the API.
    pub fn mod_perl(self) -> &'static str {
        match self {
            Api::One => "mod_perl/1.31",
            Api::Two => "mod_perl/2.0.12",
        }
    }

    /// The value of `$ENV{GATEWAY_INTERFACE}`.
    pub(super) fn gateway(self) -> &'static [u8] {
        match self {
            Api::One => b"CGI-Perl/1.1",
            Api::Two => b"CGI/1.1",
        }
    }
}
