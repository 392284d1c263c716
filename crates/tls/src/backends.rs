//! TLS towards backends: the files that `SSLProxy…` names, and client settings made of them.

use std::sync::{Arc, Mutex, PoisonError};

use rustls::ClientConfig;
use rustls::RootCertStore;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde::{Deserialize, Serialize};

use super::identity::private_key;
use super::pem_files::{PemFiles, complaint};
use super::verifier::BackendVerifier;
use super::versions::versions;
use config::proxy::BackendTls;
use config::proxy::backend_tls::BackendVerify;
use config::tls::{NamedFile, Versions};
use config::{Config, ConfigError};

/// Maximum number of client settings in memory: one for each combination in the configuration.
const MAX_SETTINGS: usize = 1024;

/// The contents of the files that `SSLProxy…` names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BackendFiles(PemFiles);

/// The protocol that a backend has to select.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alpn {
    /// `http/1.1`
    Http1,
    /// `h2`
    Http2,
}

/// A client's configuration, or why there is none.
type MadeClient = Result<Arc<ClientConfig>, String>;

/// Client settings, each made at its first use.
#[derive(Default)]
pub struct BackendClients {
    files: BackendFiles,
    made: Mutex<Vec<(BackendTls, Alpn, MadeClient)>>,
}

impl BackendFiles {
    /// Reads all files that the configuration names, or returns all errors.
    pub fn read(config: &Config) -> Result<BackendFiles, Vec<ConfigError>> {
        let (mut files, mut errors) = (BackendFiles::default(), Vec::new());
        for tls in config.sections.iter().map(|section| &section.own.proxy.tls) {
            for file in tls.authorities.iter().chain(&tls.machine) {
                errors.extend(files.0.read(file).err());
            }
            let files_are_there = errors.is_empty();
            if let (true, Err((file, why))) = (files_are_there, files.parts(tls)) {
                errors.push(complaint(file, &why));
            }
        }
        if errors.is_empty() { Ok(files) } else { Err(errors) }
    }

    /// The authorities, and our chain and key. The error names the wrong file.
    fn parts<'a>(&self, tls: &'a BackendTls) -> Result<(RootCertStore, Option<&str>), (&'a NamedFile, String)> {
        let mut roots = RootCertStore::empty();
        for file in &tls.authorities {
            let found =
                CertificateDer::pem_slice_iter(self.0.text(&file.path).as_bytes()).flatten().collect::<Vec<_>>();
            if roots.add_parsable_certificates(found).0 == 0 {
                return Err((file, "contains no certificate that can be used: expected PEM".to_owned()));
            }
        }
        let Some(machine) = &tls.machine else { return Ok((roots, None)) };
        let pem = self.0.text(&machine.path);
        match super::identity::fit(pem, pem) {
            true => Ok((roots, Some(pem))),
            false => Err((machine, "contains no certificate with its key: expected both, in PEM".to_owned())),
        }
    }
}

impl BackendClients {
    /// Client settings of these files.
    pub fn new(files: BackendFiles) -> BackendClients {
        BackendClients { files, made: Mutex::default() }
    }

    /// The client settings of a place. The error is for the error log.
    pub fn of(&self, tls: &BackendTls, alpn: Alpn) -> Result<Arc<ClientConfig>, String> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., client)) = made.iter().find(|(known, of, _)| known == tls && *of == alpn) {
            return client.clone();
        }
        let client = self.make(tls, alpn);
        if made.len() >= MAX_SETTINGS {
            made.clear();
        }
        made.push((tls.clone(), alpn, client.clone()));
        client
    }

    fn make(&self, tls: &BackendTls, alpn: Alpn) -> Result<Arc<ClientConfig>, String> {
        let (roots, machine) =
            self.files.parts(tls).map_err(|(file, why)| format!("{} {} {why}", file.directive, file.path.display()))?;
        let is_required = tls.verify == Some(BackendVerify::Require);
        if is_required && roots.is_empty() {
            return Err(
                "SSLProxyVerify require needs SSLProxyCACertificateFile or SSLProxyCACertificatePath".to_owned()
            );
        }
        let verifier = BackendVerifier {
            roots: is_required.then_some(roots),
            name: tls.check_name != Some(false),
            expire: tls.check_expire != Some(false),
        };
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&versions(tls.versions.unwrap_or(Versions::ALL)))
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut client = match machine {
            None => builder.with_no_client_auth(),
            Some(pem) => {
                let chain = CertificateDer::pem_slice_iter(pem.as_bytes()).flatten().collect();
                let key = private_key(pem)
                    .map_err(|_| "SSLProxyMachineCertificateFile: the key cannot be used".to_owned())?;
                builder.with_client_auth_cert(chain, key).map_err(|error| error.to_string())?
            }
        };
        client.alpn_protocols = match alpn {
            Alpn::Http1 => vec![b"http/1.1".to_vec()],
            Alpn::Http2 => vec![b"h2".to_vec()],
        };
        Ok(Arc::new(client))
    }
}
