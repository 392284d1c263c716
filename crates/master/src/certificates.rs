//! The folders of certificates and keys are watched: files that change are read again without a reload.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};

use super::configuration::CheckedConfig;
use base::log;
use config::Config;
use config::tls::NamedFile;

/// Delay after the last change of a file: a certificate and its key are written one after the other.
const SETTLE: Duration = Duration::from_millis(200);

/// Watches the folders in which certificates and keys lie.
#[derive(Debug, Default)]
pub struct Certificates {
    inotify: Option<Inotify>,
    due: Option<Instant>,
}

impl Certificates {
    /// Watches the certificates of `checked`, and no others.
    pub fn watch(&mut self, checked: &CheckedConfig) {
        *self = Certificates::default();
        let folders = folders(&checked.config);
        if folders.is_empty() {
            return;
        }
        match watch_all(&folders) {
            Ok(inotify) => self.inotify = Some(inotify),
            Err(error) => {
                log::warn(
                    "master",
                    format_args!("certificates cannot be watched for changes; reload after a change: {error}"),
                );
            }
        }
    }

    /// Readable when a file has changed.
    pub fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.inotify.as_ref().map(AsFd::as_fd)
    }

    /// When the files must be read again.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Schedules the next read: a watched folder has changed at `now`. The events do not name the certificate files.
    pub fn changed(&mut self, now: Instant) {
        while let Some(Ok(_)) = self.inotify.as_ref().map(Inotify::read_events) {
            self.due = Some(now + SETTLE);
        }
    }

    /// The files are to be read again at this time.
    pub fn read_at(&mut self, time: Instant) {
        self.due = Some(time);
    }

    /// Whether the files are to be read again now; true once.
    pub fn take_due(&mut self, now: Instant) -> bool {
        self.due.take_if(|due| *due <= now).is_some()
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

/// The folders to watch: the folder of each named file, and the folder of the file that a symbolic link there points
/// to.
fn folders(config: &Config) -> BTreeSet<PathBuf> {
    let hosts = config.hosts.iter().filter(|host| host.tls.used);
    let files = hosts.flat_map(|host| {
        let tls = &host.tls;
        let tickets = tls.ticket_keys.iter().flatten();
        tls.certificates.iter().chain(&tls.keys).chain(&tls.chain).chain(&tls.staple).chain(tickets)
    });
    let asking = config.hosts.iter().map(|host| &host.tls.clients).filter(|clients| clients.asked.is_some());
    let (listed, single): (Vec<&NamedFile>, Vec<&NamedFile>) =
        files.chain(asking.flat_map(|clients| clients.files())).partition(|file| file.path.is_dir());
    let paths = single.into_iter().flat_map(|file| [Some(file.path.clone()), file.path.canonicalize().ok()]);
    let of_files = paths.flatten().filter_map(|path| path.parent().map(Path::to_owned));
    of_files.chain(listed.into_iter().map(|folder| folder.path.clone())).collect()
}
