//! Listen addresses from options in plackup's syntax.

use super::super::Misuse;
use super::super::options::Run;
use super::Surroundings;

/// A value of `--listen`, in the syntax of `Listen`.
pub struct ListenAddress {
    /// `HOST:PORT` or the path of a unix socket.
    pub name: String,
    /// Whether its clients speak TLS.
    pub tls: bool,
}

/// The end of an address of `--listen` whose clients speak TLS, as Starman has it.
const TLS: &str = ":ssl";

/// The addresses. `--tls` without a marked address is for all, otherwise only those speak TLS.
pub fn listen(run: &Run, around: &Surroundings) -> anyhow::Result<Vec<ListenAddress>> {
    let is_marked = |at: usize| run.listen.get(at).is_some_and(|spelled| spelled.ends_with(TLS));
    let all = run.tls && !(0..run.listen.len()).any(is_marked);
    let names = names(run, around)?.into_iter().enumerate();
    Ok(names.map(|(at, name)| ListenAddress { name, tls: all || is_marked(at) }).collect())
}

/// Addresses of `--listen`, `--host` and `--port`, or else from the environment or systemd.
fn names(run: &Run, around: &Surroundings) -> anyhow::Result<Vec<String>> {
    if !run.listen.is_empty() {
        return run.listen.iter().map(|spelled| address(spelled, around)).collect();
    }
    let port = run.port.map(|port| port.to_string()).or_else(|| around.port.clone());
    if run.host.is_none() && port.is_none() && !around.passed.is_empty() {
        return Ok(around.passed.clone());
    }
    let port = port.unwrap_or_else(|| "5000".to_string());
    let port: u16 = port.parse().map_err(|_| Misuse(format!("PORT: expected a number up to 65535, got \"{port}\"")))?;
    Ok(vec![format!("{}:{port}", host(run.host.as_deref().unwrap_or("")))])
}

/// Parses `HOST:PORT`, `:PORT`, `PORT` and socket paths, as plackup does, and `http://HOST:PORT`, as Mojolicious does.
fn address(spelled: &str, around: &Surroundings) -> anyhow::Result<String> {
    let whole = spelled;
    let spelled = spelled.strip_suffix(TLS).unwrap_or(spelled);
    if let Some((scheme, rest)) = spelled.split_once("://") {
        return url(spelled, scheme, rest);
    }
    if spelled.contains('/') || spelled.ends_with(".sock") {
        let path = spelled.strip_prefix("unix:").unwrap_or(spelled);
        return Ok(around.folder.join(path).display().to_string());
    }
    let (name, port) = spelled.rsplit_once(':').unwrap_or(("", spelled));
    let port: u16 = port.parse().map_err(|_| {
        let expected = "expected HOST:PORT, :PORT, PORT or the path of a unix socket, with :ssl at its end for TLS";
        Misuse(format!("--listen {whole}: {expected}"))
    })?;
    Ok(format!("{}:{port}", host(name)))
}

fn url(spelled: &str, scheme: &str, rest: &str) -> anyhow::Result<String> {
    let authority = rest.strip_suffix('/').unwrap_or(rest);
    let expected = |what: &str| Misuse(format!("--listen {spelled}: {what}")).into();
    if scheme != "http" {
        return Err(expected("expected http://HOST:PORT; for TLS write HOST:PORT:ssl, or use --tls for all addresses"));
    }
    let is_port = |port: &str| port.parse::<u16>().is_ok();
    match authority.rsplit_once(':') {
        Some((name, port)) if is_port(port) && !authority.contains(['/', '?']) => Ok(format!("{}:{port}", host(name))),
        _ => Err(expected("expected http://HOST:PORT, without a path or parameters")),
    }
}

/// Maps an empty name, plackup's `0` and `*` to all addresses.
fn host(name: &str) -> &str {
    if matches!(name, "" | "0" | "*") { "0.0.0.0" } else { name }
}
