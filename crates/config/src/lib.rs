//! The configuration, in httpd's language. It is read completely before any port is bound.
//!
//! Modules from the bottom up: `syntax` parses text into directives; `model` defines the types of settings; [`table`]
//! defines all directives; `build` applies them and makes a [`Config`]; `resolve` determines the settings of a request.
//! Each uses only modules below it. Nothing here opens a socket, starts a process or reads the environment. Building is
//! a pure function, so every process of a generation gets the same result from one tree.
//!
//! Start at [`table`], a row for each directive with its setter, then at [`Config`], which all rows together make.
//! For a request, `Config::translate` finds the sections of a path and `Config::settings` merges them.

#![forbid(unsafe_code)]

mod bundle;
pub mod reference;

mod build;
mod resolve;

mod draft;
mod model;
mod syntax;
pub mod table;

#[cfg(test)]
mod dump;
#[cfg(test)]
mod golden;

pub use base::log::LogLevel;

pub use build::server_root;
pub use bundle::{Bundle, is_skipped, speaks_of, without_skipped};
pub use model::clients::{Clients, KeepAlive, ReadTimeouts, ReceivePace, Spooling};
pub use model::config::{Config, Expanded, Facts, ShadowChanges};
pub use model::context::{Scope, depth};
pub use model::fastcgi::{fcgi, fcgid, guards as fastcgi_guards, servers as fastcgi_servers};
pub use model::handler::{BackendHandler, Handler, NamedBy};
pub use model::host::{AccessLog, Alias, AliasFrom, Host, HostAddress};
pub use model::identity::{CanonicalName, Named, Signature, Tokens};
pub use model::node::{CheckTarget, NodeSettings, ReadinessCheck};
pub use model::options::{DirectoryOptions, PartialOptions};
pub use model::overrides::{Overrides, PerlHtaccess};
pub use model::perl::api::{self as perl_api, PerlFilters, PerlGeneration, PerlOptions};
pub use model::perl::phases::{self, Phase, Phases};
pub use model::pools;
pub use model::response::lookup::virtual_folders::ServedName;
pub use model::server::{
    AdminAddress, HistorySetting, Listen, LogTarget, Pages, PerlSwitches, PoolSettings, PsgiMode, RecordedFailures,
    RequestLimits, Timeouts,
};
pub use model::settings::{PartialSettings, Section, Settings};
pub use model::start_up::warm_up::{WarmUp, WarmUpSite, WarmUpSource, WarmUpUrl};
pub use model::start_up::{NamedHandler, PsgiApp, StartUp, StartUpStep, in_order_of_mod_perl_2};
pub use model::store::{SharedStores, StoreAddress, StoreKind, StoreUrl};
pub use model::traces::{TraceCollector, Traces};
pub use model::{
    access, budget, log_format, program, protocols, proxy, remote_ip, response, scheduling, strictness, tls,
};
pub use resolve::htaccess::{
    Applied, ChainLoad, Htaccess, MAX_HTACCESS_BYTES, TOO_HEAVY, htaccess_file, htaccess_text,
};
pub use resolve::{AddressProtocol, Mapping, without_port};
pub use syntax::envvars::Envvars;
pub use syntax::lines::{LineReader, LogicalLine};
pub use syntax::modules::{is_embodied, modules};
pub use syntax::pattern::meter;
pub use syntax::tree::{At, ConfigError, Directive};
pub use syntax::value::network;
pub use syntax::value::{duration, size};
pub use syntax::words::split as split_words;
pub use syntax::{parse, pattern, regular, work};
pub use table::{foreign_modules, is_about_requests, is_elsewhere, is_secret};
