//! `MDStoreDir`: certificates, keys and accounts, which only the master's user can read. Files are replaced as a whole,
//! so that a certificate and its key always belong together, even after a crash.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use config::regular;
use sys::exposed;
use tls::acme::IssuedCertificate;

/// Maximum size of the file of an account, in bytes.
const MAX_ACCOUNT_BYTES: u64 = 64 * 1024;
/// Maximum length of the name of an account's file.
const MAX_NAME_BYTES: usize = 200;

/// The folder.
#[derive(Debug)]
pub struct CertificateStore(PathBuf);

impl CertificateStore {
    /// Makes the folder, unless it exists.
    pub fn open(path: &Path) -> io::Result<CertificateStore> {
        let store = CertificateStore(path.to_owned());
        for folder in ["accounts", "domains", "archive"] {
            make(&path.join(folder))?;
        }
        match exposed::because(&path.join("domains").join("any")) {
            Some(why) => Err(io::Error::other(format!("{why}; name a folder that only root may write to"))),
            None => Ok(store),
        }
    }

    /// The account with an authority, as JSON.
    pub fn account(&self, authority: &str) -> io::Result<Option<String>> {
        match regular::read(&self.account_file(authority), MAX_ACCOUNT_BYTES) {
            Ok((_, bytes)) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces the file as a whole.
    pub fn save_account(&self, authority: &str, credentials: &str) -> io::Result<()> {
        let path = self.account_file(authority);
        let new = path.with_extension("new");
        remove_file(&new)?;
        write(&new, credentials)?;
        fs::rename(&new, &path)
    }

    fn account_file(&self, authority: &str) -> PathBuf {
        let bare = authority.strip_prefix("https://").unwrap_or(authority);
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        let name: String = bare.chars().map(plain).take(MAX_NAME_BYTES).collect();
        self.0.join("accounts").join(format!("{}.json", name.trim_matches(['.', '-'])))
    }

    /// Stores the certificates of a domain. The former ones move to `archive`.
    pub fn install(&self, domain: &str, certificates: &[IssuedCertificate]) -> io::Result<()> {
        let (folder, new) = (self.0.join("domains").join(domain), self.0.join("domains").join(format!("{domain}.new")));
        remove_folder(&new)?;
        make(&new)?;
        for certificate in certificates {
            let [chain, key] = certificate.key_type.files();
            write(&new.join(key), &certificate.key)?;
            write(&new.join(chain), &certificate.chain)?;
        }
        File::open(&new)?.sync_all()?;
        if !folder.exists() {
            fs::rename(&new, &folder)?;
        } else {
            exchange(&new, &folder)?;
            let archive = self.0.join("archive").join(domain);
            remove_folder(&archive)?;
            fs::rename(&new, &archive)?;
        }
        File::open(self.0.join("domains"))?.sync_all()
    }
}

/// Exchanges two folders at once, or one after the other where the file system cannot.
fn exchange(new: &Path, old: &Path) -> io::Result<()> {
    if renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE).is_ok() {
        return Ok(());
    }
    let aside = new.with_extension("old");
    remove_folder(&aside)?;
    fs::rename(old, &aside)?;
    fs::rename(new, old)?;
    fs::rename(&aside, new)
}

fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn remove_file(path: &Path) -> io::Result<()> {
    missing_is_fine(fs::remove_file(path))
}

fn remove_folder(path: &Path) -> io::Result<()> {
    missing_is_fine(fs::remove_dir_all(path))
}

fn missing_is_fine(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use config::tls::managed::KeyType;

    use super::*;

    fn certificates(text: &str) -> Vec<IssuedCertificate> {
        let one = |key_type| IssuedCertificate { key_type, chain: text.to_owned(), key: format!("key of {text}") };
        vec![one(KeyType::P256), one(KeyType::Rsa(2048))]
    }

    #[test]
    fn certificates_are_replaced_together_and_only_the_owner_can_read_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("md");
        let store = CertificateStore::open(&path).expect("a store");
        store.install("www.example.org", &certificates("one")).expect("installed");
        store.install("www.example.org", &certificates("two")).expect("installed");
        store.install("www.example.org", &certificates("three")).expect("installed");
        let read = |name: &str| fs::read_to_string(path.join(name)).unwrap_or_default();
        assert_eq!(read("domains/www.example.org/pubcert.secp256r1.pem"), "three");
        assert_eq!(read("domains/www.example.org/privkey.pem"), "key of three");
        assert_eq!(read("archive/www.example.org/pubcert.pem"), "two");
        let mode = |name: &str| fs::metadata(path.join(name)).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode("domains/www.example.org/privkey.pem"), 0o600);
        assert_eq!((mode("domains/www.example.org"), mode("accounts"), mode("")), (0o700, 0o700, 0o700));
        assert_eq!(fs::read_dir(path.join("domains")).expect("a folder").count(), 1);
    }

    #[test]
    fn an_account_is_found_by_the_url_of_its_authority() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = CertificateStore::open(&folder.path().join("md")).expect("a store");
        let (one, other) = ("https://one.example.org/dir", "https://../../other?x=/etc/passwd");
        assert_eq!(store.account(one).expect("readable"), None);
        store.save_account(one, "1").expect("saved");
        store.save_account(one, "2").expect("saved");
        store.save_account(other, "3").expect("saved");
        assert_eq!(store.account(one).expect("readable").as_deref(), Some("2"));
        assert_eq!(store.account(other).expect("readable").as_deref(), Some("3"));
        assert_eq!(fs::read_dir(folder.path().join("md/accounts")).expect("a folder").count(), 2);
    }
}
