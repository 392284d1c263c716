//! The master: start, reload, stop, and what the processes may do to each other.

/// Files that root writes into folders of others.
mod exposed_files;
/// Workers and molds that mean harm.
mod hostile_workers;
/// Servers in several pid namespaces that share folders.
mod namespaces;
/// New configuration and code without a lost request.
mod reload;
/// Stopping, reopening logs, systemd.
mod signals;
/// Every way to start, and that nothing said is lost in it.
mod startup;
