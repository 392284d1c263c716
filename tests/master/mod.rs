//! The master: start, reload, stop, and protection of the processes from each other.

/// Files that root writes into folders of other users.
mod exposed_files;
/// Malicious workers and molds.
mod hostile_workers;
/// Servers in several pid namespaces that share folders.
mod namespaces;
/// The process that waits for the next reload.
mod prepared;
/// Reloads of configuration and code without a lost request.
mod reload;
/// Sockets of Server::Starter.
mod server_starter;
/// Stopping, reopening logs, systemd.
mod signals;
/// Every way to start, and the completeness of the log.
mod startup;
