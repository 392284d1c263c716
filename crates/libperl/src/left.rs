//! State that a request has changed, by name.

/// State that a request left behind, and that the worker has restored; one bit per entry of the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeftState(pub u32);

impl LeftState {
    const AUTOFLUSH: u32 = 1 << 13;
    const NAME: u32 = 1 << 22;

    const NAMES: [&str; 23] = [
        "the working directory",
        "the umask",
        "a signal handler",
        "an alarm",
        "$/",
        "$\\",
        "$,",
        "select",
        "STDIN",
        "STDOUT",
        "STDERR",
        "a tied handle",
        "%ENV",
        "$|",
        "@INC",
        "the signal mask",
        "an interval timer",
        "$^F",
        "$^W",
        "$;",
        "$\"",
        "the locale",
        "$0",
    ];

    /// Whether the state deserves no log line: half of all scripts set `$|` and `$0`.
    pub fn is_ordinary(self) -> bool {
        self.0 & !(Self::AUTOFLUSH | Self::NAME) == 0
    }

    /// Names of the bits, for the log.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().enumerate().filter(move |(bit, _)| self.0 & 1 << bit != 0).map(|(_, name)| name)
    }
}
