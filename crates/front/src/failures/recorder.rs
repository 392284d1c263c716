//! The thread that writes recordings. Requests never wait for it: those that find no room in its queue are not
//! recorded, and the error log reports their number.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::{RecordedRequest, file_text, folder};
use base::log;
use config::Config;

/// Maximum number of requests waiting to be written. Each may have a body of 64 kB.
const QUEUED: usize = 16;
/// Interval between warnings.
const COMPLAIN: Duration = Duration::from_secs(60);

/// Passes failed requests to the recorder's thread.
pub struct FailureRecorder {
    queue: SyncSender<RecordedRequest>,
    dropped: Arc<AtomicU64>,
}

impl FailureRecorder {
    /// Starts the thread, if failures are recorded. It ends when the `FailureRecorder` is dropped and its queue is
    /// empty.
    pub fn start(config: &Config) -> std::io::Result<Option<FailureRecorder>> {
        if !config.failures.is_on {
            return Ok(None);
        }
        let folder = config.failures.folder_below(&config.server_root);
        let (queue, waiting) = sync_channel(QUEUED);
        let dropped = Arc::new(AtomicU64::new(0));
        let writer = Writer { folder, dropped: dropped.clone(), complained: None };
        Builder::new().name("failures".to_owned()).spawn(move || writer.run(&waiting))?;
        Ok(Some(FailureRecorder { queue, dropped }))
    }

    /// Records a request, if there is room in the queue.
    pub fn offer(&self, request: RecordedRequest) {
        if self.queue.try_send(request).is_err() {
            self.dropped.fetch_add(1, Relaxed);
        }
    }
}

struct Writer {
    folder: PathBuf,
    /// Requests that were not recorded and not reported in the log yet.
    dropped: Arc<AtomicU64>,
    complained: Option<Instant>,
}

impl Writer {
    fn run(mut self, waiting: &Receiver<RecordedRequest>) {
        while let Ok(request) = waiting.recv() {
            match folder::write(&self.folder, &request.id, &file_text::of(&request)) {
                Ok(()) if self.dropped.load(Relaxed) == 0 => {}
                Ok(()) => self.complain(&"they came faster than the disk could write them"),
                Err(error) => {
                    self.dropped.fetch_add(1, Relaxed);
                    self.complain(&error);
                }
            }
        }
    }

    /// Logs the number of requests that were not recorded and the cause, at most once in [`COMPLAIN`].
    fn complain(&mut self, why: &dyn Display) {
        if self.complained.is_some_and(|at| at.elapsed() < COMPLAIN) {
            return;
        }
        self.complained = Some(Instant::now());
        let (dropped, folder) = (self.dropped.swap(0, Relaxed), self.folder.display());
        log::warn("front", format_args!("RecordFailures: {dropped} requests were not recorded in {folder}: {why}"));
    }
}
