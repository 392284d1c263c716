//! A shadow: the same site once more, on ports of its own, for measurements. Nothing of the running one is touched.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::model::server::Listen;
use crate::config::syntax::tree::Directive;

/// What is different about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shadow {
    /// The process that measures, whose end is its own.
    pub owner: i32,
    /// Its control socket and its error log lie there.
    pub folder: PathBuf,
    /// Ports of 127.0.0.1, one for each address that the site listens at, in the order of those.
    pub ports: Vec<u16>,
    /// Each of these is read instead of every directive of its name, and at the end where there is none.
    pub instead: Vec<Directive>,
}

impl Shadow {
    /// Each address of the site with the one that stands for it.
    pub fn addresses<'a>(&'a self, listen: &'a [Listen]) -> impl Iterator<Item = (&'a Listen, SocketAddr)> {
        listen.iter().zip(self.ports.iter().map(|port| (Ipv4Addr::LOCALHOST, *port).into()))
    }
}
