//! Backends: the reverse proxy, its balancers and TLS, FastCGI.

pub mod balancer;
pub mod fastcgi;
pub mod fcgid;
pub mod forward;
mod health;
pub mod mod_fastcgi;
mod parameters;
pub mod pass;
mod section_url;
pub mod tls;
