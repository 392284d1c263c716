//! What the configuration makes of an answer: headers, error pages, compression; and pages of the server's own.

/// Which of several content codings an answer has, and that it is what a client of Debian's unpacks.
mod codings;
/// `DEFLATE` for answers.
mod compress;
/// `ErrorDocument`.
mod error_documents;
/// `Header`, `RequestHeader`, `Expires*`, `AddDefaultCharset`.
mod headers;
/// What httpd's manual says of `Header`, `SetEnvIf` and `Expires*`.
mod headers_and_variables;
/// Bodies of requests that were packed.
mod inflate;
/// What the server calls itself: in headers, to programs, below pages, in links.
mod server_identity;
/// The page for Prometheus.
mod server_metrics;
/// The pages of mod_status and mod_info.
mod server_status;
/// `SetEnv`, `SetEnvIf`, `BrowserMatch`, and what they are good for.
mod variables;
