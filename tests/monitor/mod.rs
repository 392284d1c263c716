//! The monitoring of a running server, in its several views.

/// Access to the monitor, and clients that misuse it.
mod admin;

/// A browser that the tests drive.
mod browser;

/// What is open, on the dashboard.
mod open_connections;

/// The dashboard in a browser.
mod dashboard;

/// `HistoryFile` and `cameleer history`.
mod history;

/// `/healthz` and `/readyz`, as pages, as handlers and on the command line.
mod health;

/// Prometheus and the files for it and for Grafana.
mod prometheus;

/// `cameleer top` on a pseudo-terminal.
mod top;

/// The status: workers, reasons for exits, reloads.
mod status;
