//! Headers, error pages and compression that the configuration adds to responses; pages that the server generates.

/// The choice among several content codings; Debian's decompressors can read each.
mod codings;
/// The output filter `DEFLATE`.
mod compress;
/// `ErrorDocument`.
mod error_documents;
/// `FilterDeclare`, `FilterProvider`, `FilterChain`.
mod filter_chain;
/// The tables of `Header` and `Header always`.
mod header_tables;
/// `Header`, `RequestHeader`, `Expires*`, `AddDefaultCharset`.
mod headers;
/// `Header`, `SetEnvIf` and `Expires*` as httpd's manual describes them.
mod headers_and_variables;
/// Compressed request bodies.
mod inflate;
/// The server's name in headers, environment variables, page footers and links.
mod server_identity;
/// The metrics page for Prometheus.
mod server_metrics;
/// The pages of mod_status and mod_info.
mod server_status;
/// `Substitute`, and the output filters SUBSTITUTE and INFLATE.
mod substitute;
/// `SetEnv`, `SetEnvIf`, `BrowserMatch`, and their uses.
mod variables;
