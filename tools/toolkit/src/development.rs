//! The certificate of `cameleer run --tls`.

use std::path::Path;

use anyhow::Context;

use super::print_error;
use tls::development::{CertificateFiles, can_be_for, write};

/// Returns the certificate in `folder`, valid for the addresses and this machine. Makes a new one if necessary, and
/// prints a message then.
pub fn certificate(folder: &Path, addresses: &[String], host_name: Option<&str>) -> anyhow::Result<CertificateFiles> {
    let names = names(addresses, host_name);
    let files = write(folder, &names).with_context(|| format!("--tls: a certificate in {}", folder.display()))?;
    if let Some(why) = files.made {
        let (path, names) = (files.certificate.display(), names.join(", "));
        print_error(&format!(
            "cameleer: --tls: made a certificate for development, because {why}: {path}, for {names}. Browsers do not trust it yet: import it \
             into your browser as an authority, or use curl --cacert {path}"
        ));
    }
    Ok(files)
}

/// Names and addresses that clients on this machine or nearby may use.
fn names(addresses: &[String], host_name: Option<&str>) -> Vec<String> {
    let hosts = addresses.iter().filter_map(|address| Some(address.rsplit_once(':')?.0));
    let listening = hosts.map(|host| host.trim_matches(['[', ']'])).filter(|host| !matches!(*host, "0.0.0.0" | "::"));
    let mut names: Vec<String> = Vec::new();
    for name in ["localhost", "127.0.0.1", "::1"].into_iter().chain(host_name).chain(listening) {
        let name = name.to_ascii_lowercase();
        if can_be_for(&name) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
