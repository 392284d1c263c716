//! Descriptors of listening sockets that another process has opened for this one: systemd (`LISTEN_FDS`), or the
//! `start_server` of Server::Starter (`SERVER_STARTER_PORT=127.0.0.1:80=4;/run/a.sock=5`).

use std::collections::BTreeSet;
use std::os::fd::RawFd;

use anyhow::{anyhow, bail};

/// Of a larger number one is not open, which is an error.
const MAX_PASSED: u32 = 65536;

/// Descriptors and the variable that names them.
#[derive(Debug, PartialEq, Eq)]
pub struct PassedSockets {
    pub by: &'static str,
    pub numbers: Vec<RawFd>,
}

/// Finds the sockets by the environment `env` of the process `us`.
pub fn read(env: &dyn Fn(&str) -> Option<String>, us: u32) -> anyhow::Result<PassedSockets> {
    let number = |name| env(name).and_then(|value| value.parse::<u32>().ok());
    if number("LISTEN_PID") == Some(us) {
        let count = number("LISTEN_FDS").unwrap_or(0).min(MAX_PASSED) as usize;
        return Ok(PassedSockets { by: "LISTEN_FDS", numbers: (3..).take(count).collect() });
    }
    let sockets = env("SERVER_STARTER_PORT").unwrap_or_default();
    let parts = sockets.split(';').filter(|part| !part.is_empty());
    let numbers = parts.map(descriptor).collect::<anyhow::Result<Vec<_>>>()?;
    // A descriptor has one owner.
    if numbers.iter().collect::<BTreeSet<_>>().len() < numbers.len() {
        bail!("SERVER_STARTER_PORT: a descriptor is named twice in \"{sockets}\"");
    }
    Ok(PassedSockets { by: "SERVER_STARTER_PORT", numbers })
}

/// The number of `ADDRESS=NUMBER`. Numbers below 3 are the standard streams.
fn descriptor(socket: &str) -> anyhow::Result<RawFd> {
    let number = socket.rsplit_once('=').and_then(|(_, number)| number.parse().ok());
    number
        .filter(|number| *number > 2)
        .ok_or_else(|| anyhow!("SERVER_STARTER_PORT: expected ADDRESS=DESCRIPTOR, got \"{socket}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)], us: u32) -> Result<Vec<RawFd>, String> {
        let env = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string());
        read(&env, us).map(|passed| passed.numbers).map_err(|error| error.to_string())
    }

    #[test]
    fn descriptors_meant_for_another_process_are_left_alone() {
        let systemd = [("LISTEN_PID", "17"), ("LISTEN_FDS", "2")];
        assert_eq!(of(&systemd, 17), Ok(vec![3, 4]));
        assert_eq!(of(&systemd, 18), Ok(vec![]));
        assert_eq!(of(&[], 17), Ok(vec![]));
    }

    #[test]
    fn a_descriptor_that_is_named_twice_is_an_error() {
        let twice = of(&[("SERVER_STARTER_PORT", "80=4;81=4")], 1);
        assert_eq!(twice, Err("SERVER_STARTER_PORT: a descriptor is named twice in \"80=4;81=4\"".to_owned()));
    }

    #[test]
    fn server_starter_names_address_and_descriptor() {
        assert_eq!(of(&[("SERVER_STARTER_PORT", "127.0.0.1:80=4;/run/a=b.sock=7")], 1), Ok(vec![4, 7]));
        for bad in ["80", "80=", "80=x", "80=-1", "80=2", "80=99999999999"] {
            let expected = format!("SERVER_STARTER_PORT: expected ADDRESS=DESCRIPTOR, got \"{bad}\"");
            assert_eq!(of(&[("SERVER_STARTER_PORT", bad)], 1), Err(expected));
        }
    }
}
