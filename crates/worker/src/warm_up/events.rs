//! What a process that warms up says to the one that watches it: a request begins, a request is over.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

use crate::request::WarmUpAnswer;

/// Shorter than what a pipe takes at once, so that none arrives in two parts.
const LENGTH: usize = 32;

const BEGINS: u64 = 1;
const ANSWERED: u64 = 2;
const LEAVES: u64 = 3;
const NOT_PERL: u64 = 4;
const SKIPPED: u64 = 5;
const DONE: u64 = 6;
const ELSEWHERE: u64 = 7;

/// As it arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The request of that number. Its time limit and the grace after it are known when its place is; 0 is no limit.
    Begins { number: u64, limit: Option<(Duration, Duration)> },
    /// It is over.
    Ends(WarmUpAnswer),
    /// It is not asked: there are enough.
    Skipped,
    /// There are no more.
    Done,
}

/// The end of the pipe that is written to; `None`: nobody watches.
pub struct Events(pub Option<File>);

impl Events {
    pub fn begins(&self, number: u64, limit: Option<(Duration, Duration)>) {
        // One more, so that no limit at all is told from one that is not known yet.
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX).saturating_add(1);
        let (limit, grace) = limit.map_or((0, 0), |(limit, grace)| (ms(limit), ms(grace)));
        self.say([BEGINS, number, limit, grace]);
    }

    pub fn ends(&self, answer: WarmUpAnswer) {
        self.say(match answer {
            WarmUpAnswer::Status(status) => [ANSWERED, status.into(), 0, 0],
            WarmUpAnswer::Leaves => [LEAVES, 0, 0, 0],
            WarmUpAnswer::NotPerl => [NOT_PERL, 0, 0, 0],
            WarmUpAnswer::Elsewhere => [ELSEWHERE, 0, 0, 0],
        });
    }

    pub fn skips(&self) {
        self.say([SKIPPED, 0, 0, 0]);
    }

    /// A child of the site's code may hold the pipe open: its end is no news.
    pub fn are_done(&self) {
        self.say([DONE, 0, 0, 0]);
    }

    /// Who watches may have gone: then nobody minds.
    fn say(&self, words: [u64; 4]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let _ = self.0.as_ref().map(|mut pipe| pipe.write_all(&bytes));
    }
}

/// What has arrived in a pipe that does not wait.
pub fn read(from: &mut File) -> io::Result<Event> {
    let mut bytes = [0; LENGTH];
    from.read_exact(&mut bytes)?;
    let mut words = bytes.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_le_bytes));
    let mut next = || words.next().unwrap_or(0);
    let (kind, first, limit, grace) = (next(), next(), next(), next());
    Ok(match kind {
        BEGINS => {
            let limit = limit.checked_sub(1).map(Duration::from_millis);
            let grace = Duration::from_millis(grace.saturating_sub(1));
            Event::Begins { number: first, limit: limit.map(|limit| (limit, grace)) }
        }
        ANSWERED => Event::Ends(WarmUpAnswer::Status(u16::try_from(first).unwrap_or(500))),
        LEAVES => Event::Ends(WarmUpAnswer::Leaves),
        NOT_PERL => Event::Ends(WarmUpAnswer::NotPerl),
        ELSEWHERE => Event::Ends(WarmUpAnswer::Elsewhere),
        SKIPPED => Event::Skipped,
        DONE => Event::Done,
        _ => return Err(ErrorKind::InvalidData.into()),
    })
}
