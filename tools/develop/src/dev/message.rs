//! The messages from threads of `cameleer dev` to its main loop.

use super::change::FileChange;

/// A report of a thread.
pub enum Message {
    /// A watched file has changed.
    Changed(FileChange),
    /// The server answers at these URLs.
    Ready(String),
    /// The server's process has ended, with this exit code; −1 for a signal.
    Ended(i32),
    /// A signal asks this process to end.
    Stop,
}
