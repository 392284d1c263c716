//! Events from a warming process to its watcher: a request begins, a request ends.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

use crate::request::WarmUpOutcome;

/// Length of an event in bytes; less than PIPE_BUF, so that a write is atomic.
const LENGTH: usize = 32;

const BEGINS: u64 = 1;
const ANSWERED: u64 = 2;
const LEAVES: u64 = 3;
const NOT_PERL: u64 = 4;
const SKIPPED: u64 = 5;
const DONE: u64 = 6;
const ELSEWHERE: u64 = 7;

/// An event read from the pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchEvent {
    /// A request begins. Its time limit and the grace period after it follow from its location; zero: no limit.
    Begins {
        number: u64,
        limit: Option<(Duration, Duration)>,
    },
    Ends(WarmUpOutcome),
    /// The request is skipped, because its directive has enough requests.
    Skipped,
    /// All requests are done.
    Done,
}

/// The write end of the pipe; `None`: no watcher.
pub struct Events(pub Option<File>);

impl Events {
    pub fn begins(&self, number: u64, limit: Option<(Duration, Duration)>) {
        // Plus one, so that 0 means unknown and not a limit of 0.
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX).saturating_add(1);
        let (limit, grace) = limit.map_or((0, 0), |(limit, grace)| (ms(limit), ms(grace)));
        self.send([BEGINS, number, limit, grace]);
    }

    pub fn ends(&self, answer: WarmUpOutcome) {
        self.send(match answer {
            WarmUpOutcome::Status(status) => [ANSWERED, status.into(), 0, 0],
            WarmUpOutcome::Leaves => [LEAVES, 0, 0, 0],
            WarmUpOutcome::NotPerl => [NOT_PERL, 0, 0, 0],
            WarmUpOutcome::Elsewhere => [ELSEWHERE, 0, 0, 0],
        });
    }

    pub fn skips(&self) {
        self.send([SKIPPED, 0, 0, 0]);
    }

    /// Marks the end of the events. A child of the site's code may hold the pipe open, so its EOF is not reliable.
    pub fn are_done(&self) {
        self.send([DONE, 0, 0, 0]);
    }

    /// Writes an event. A watcher that has gone is ignored.
    fn send(&self, words: [u64; 4]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let _ = self.0.as_ref().map(|mut pipe| pipe.write_all(&bytes));
    }
}

/// Reads one event from a non-blocking pipe.
pub fn read(from: &mut File) -> io::Result<WatchEvent> {
    let mut bytes = [0; LENGTH];
    from.read_exact(&mut bytes)?;
    let mut words = bytes.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_le_bytes));
    let mut next = || words.next().unwrap_or(0);
    let (kind, first, limit, grace) = (next(), next(), next(), next());
    Ok(match kind {
        BEGINS => {
            let limit = limit.checked_sub(1).map(Duration::from_millis);
            let grace = Duration::from_millis(grace.saturating_sub(1));
            WatchEvent::Begins { number: first, limit: limit.map(|limit| (limit, grace)) }
        }
        ANSWERED => WatchEvent::Ends(WarmUpOutcome::Status(u16::try_from(first).unwrap_or(500))),
        LEAVES => WatchEvent::Ends(WarmUpOutcome::Leaves),
        NOT_PERL => WatchEvent::Ends(WarmUpOutcome::NotPerl),
        ELSEWHERE => WatchEvent::Ends(WarmUpOutcome::Elsewhere),
        SKIPPED => WatchEvent::Skipped,
        DONE => WatchEvent::Done,
        _ => return Err(ErrorKind::InvalidData.into()),
    })
}
