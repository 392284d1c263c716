//! The configuration as plain data: types of settings, parsers of their values, and merge rules.

pub mod access;
pub mod address;
pub mod budget;
pub mod clients;
pub mod config;
pub mod context;
pub mod handler;
pub mod host;
pub mod identity;
pub mod log_format;
pub mod merge;
pub mod options;
pub mod overrides;
pub mod perl;
pub mod pools;
pub mod program;
pub mod protocols;
pub mod remote_ip;
pub mod response;
pub mod scheduling;
pub mod server;
pub mod settings;
pub mod start_up;
pub mod strictness;
pub mod tls;
pub mod traces;
