//! Parameters of a backend, and the places of lines that name one.

use std::time::Duration;

use crate::draft::Draft;
use crate::model::context::SectionContext;
use crate::model::proxy::{BackendParameters, Upgrade};
use crate::syntax::value::{duration, flag, number};
use crate::table::row::{Contexts, HOSTS, places};

/// Hosts, and `<Location>` whose path then stands for the argument.
pub const PASSES: Contexts = places(HOSTS.places | SectionContext::Location as u8);

/// The parameters of a line.
pub fn parameters(draft: &mut Draft, words: &[String]) -> Result<BackendParameters, String> {
    let mut all = BackendParameters::default();
    for word in words {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        backend_parameter(draft, &mut all, &name.to_ascii_lowercase(), value)?;
    }
    Ok(all)
}

/// Applies a parameter of a backend's connections.
pub fn backend_parameter(
    draft: &mut Draft,
    all: &mut BackendParameters,
    name: &str,
    value: &str,
) -> Result<(), String> {
    let time =
        || -> Result<Option<Duration>, String> { duration(value).map(Some).map_err(|why| format!("{name}: {why}")) };
    match name {
        "nocanon" => all.nocanon = true,
        "noquery" => all.noquery = true,
        "interpolate" => all.interpolate = true,
        "timeout" => all.timeout = time()?,
        "connectiontimeout" => all.connection_timeout = time()?,
        "retry" => all.retry = time()?,
        "ttl" => all.ttl = time()?,
        "disablereuse" | "enablereuse" => {
            all.enable_reuse = flag(value)? == (name == "enablereuse");
            all.disable_reuse = !all.enable_reuse;
        }
        "upgrade" => {
            all.upgrade = Some(match value.to_ascii_lowercase().as_str() {
                "" => return Err("upgrade: expected ANY, NONE or the name of a protocol".to_owned()),
                "any" | "*" => Upgrade::Any,
                "none" => Upgrade::None,
                name => Upgrade::To(name.to_owned()),
            });
        }
        // Each thread keeps as many idle connections as it needed lately; the kernel sizes buffers.
        "min" | "max" | "smax" | "acquire" | "keepalive" | "ping" | "flushpackets" | "flushwait" | "iobuffersize"
        | "receivebuffersize" | "responsefieldsize" => {
            draft.warn(&format!("{name} has no effect: connections to backends are kept as they are needed"));
        }
        "addressttl" => {
            number(value, &(0..=1_000_000)).map_err(|why| format!("{name}: {why}"))?;
            draft.warn("addressttl has no effect: addresses of a name are looked up again after 5 s");
        }
        "flusher" | "secret" => {
            draft.warn(&format!(
                "{name} has no effect: it is for the schemes fdpass:// and ajp://, which are not supported"
            ));
        }
        "route" | "redirect" | "lbset" | "loadfactor" => {
            draft.warn(&format!("{name} has no effect: this backend is no member of a balancer; use BalancerMember"));
        }
        _ => {
            return Err(format!(
                "the parameter {name} is not supported; expected nocanon, noquery, interpolate, timeout, connectiontimeout, retry, ttl, disablereuse or upgrade"
            ));
        }
    }
    Ok(())
}
