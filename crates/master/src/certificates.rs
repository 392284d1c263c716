//! Certificates that are renewed while the server runs: their folders are watched, and what has changed goes to the front
//! without a reload.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use wire::control::ToFront;

use super::Master;
use super::configuration::CheckedConfig;
use base::log;
use config::Config;

/// A certificate and its key are written one after the other; after the last change we wait so long before we look.
const SETTLE: Duration = Duration::from_millis(200);

/// Watches the folders in which certificates and keys lie.
#[derive(Debug, Default)]
pub struct Certificates {
    inotify: Option<Inotify>,
    due: Option<Instant>,
}

impl Certificates {
    /// From now on those of `checked`.
    pub fn watch(&mut self, checked: &CheckedConfig) {
        *self = Certificates::default();
        let folders = folders(&checked.config);
        if folders.is_empty() {
            return;
        }
        match watch_all(&folders) {
            Ok(inotify) => self.inotify = Some(inotify),
            Err(error) => {
                log::warn("master", format_args!("certificates cannot be watched, a reload reads them anew: {error}"));
            }
        }
    }

    /// Ready when something has happened.
    pub fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.inotify.as_ref().map(AsFd::as_fd)
    }

    /// When to look.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Something has happened; what, is seen when they are read.
    fn stir(&mut self) {
        while let Some(Ok(_)) = self.inotify.as_ref().map(Inotify::read_events) {
            self.due = Some(Instant::now() + SETTLE);
        }
    }
}

impl Master {
    /// The watch has something to say.
    pub(super) fn certificates_stir(&mut self) {
        self.certificates.stir();
    }

    /// Reads them again when that is due. The front gets them when they have changed and can be used.
    pub(super) fn renew_certificates(&mut self, now: Instant) {
        if self.certificates.due.is_none_or(|due| due > now) {
            return;
        }
        self.certificates.due = None;
        let Some(generation) = self.serving() else { return };
        match self.checked.renew_identities() {
            Ok(false) => {}
            Ok(true) => match self.checked.identities_in_memory() {
                Ok(memory) => {
                    log::notice("master", "certificates have changed: new connections get the new ones");
                    self.tell_front(ToFront::Certificates { generation }, vec![memory]);
                }
                Err(error) => log::error("master", format_args!("certificates: {error}")),
            },
            Err(mistakes) => {
                log::error(
                    "master",
                    format_args!("certificates have changed, but the old ones stay in use: {mistakes}"),
                );
            }
        }
    }
}

fn watch_all(folders: &BTreeSet<PathBuf>) -> nix::Result<Inotify> {
    let inotify = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK)?;
    let changes = AddWatchFlags::IN_CLOSE_WRITE | AddWatchFlags::IN_MOVED_TO | AddWatchFlags::IN_CREATE;
    for folder in folders {
        inotify.add_watch(folder, changes)?;
    }
    Ok(inotify)
}

/// Where files are exchanged: the folder that is named, and where a link in it leads.
fn folders(config: &Config) -> BTreeSet<PathBuf> {
    let hosts = config.hosts.iter().filter(|host| host.tls.used);
    let files = hosts.flat_map(|host| {
        let tls = &host.tls;
        tls.certificates.iter().chain(&tls.keys).chain(&tls.chain).chain(&tls.staple)
    });
    let paths = files.flat_map(|file| [Some(file.path.clone()), file.path.canonicalize().ok()]);
    paths.flatten().filter_map(|path| path.parent().map(Path::to_owned)).collect()
}
