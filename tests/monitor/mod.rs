//! The monitoring of a running server, in its several views.

/// Access to the monitor, and clients that misuse it.
mod admin;

/// A browser that the tests drive.
mod browser;

/// The dashboard in a browser.
mod dashboard;

/// `HistoryFile` and `cameleer history`.
mod history;

/// `cameleer top` on a pseudo-terminal.
mod top;

/// The status: workers, reasons for exits, reloads.
mod status;
