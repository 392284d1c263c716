//! The history file: a header page, then a fixed number of slots, one per second. The time of a second determines its
//! slot, so records are never searched or moved. A record that a crash or a full disk left incomplete fails its
//! checksum and is skipped. Later records are not affected.

use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;

use flate2::Crc;

use super::second::{SIZE, Second};

/// The seconds of seven days.
pub const WEEK: u32 = 7 * 24 * 3600;
/// Number of seconds stored without a file.
pub const SECONDS_IN_MEMORY: u32 = 3600;

/// Size in bytes of the header before the first slot.
const HEADER: u64 = 4096;
const MAGIC: &[u8; 16] = b"cameleer history";
/// Increase this when the layout of a record changes.
const VERSION: u32 = 1;
/// Number of slots read at once.
const AT_ONCE: u32 = 3600;

/// An open history file.
#[derive(Debug)]
pub struct HistoryRing {
    file: File,
    seconds: u32,
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// The file is no history file, or its header is damaged.
    #[error("is damaged or not a history file")]
    NotOurs,
    /// An earlier or later version wrote it.
    #[error("was written by another version")]
    OtherVersion,
    /// An error of reading or writing.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl HistoryRing {
    /// Opens a file to read and write. An empty file becomes a ring of `seconds` slots.
    pub fn open(file: File, seconds: u32) -> Result<HistoryRing, Damage> {
        if file.metadata()?.len() == 0 {
            file.write_all_at(&header(seconds), 0)?;
        }
        HistoryRing::read(file)
    }

    /// Opens an existing file to read.
    pub fn read(file: File) -> Result<HistoryRing, Damage> {
        let mut first = [0; HEADER_BYTES];
        file.read_exact_at(&mut first, 0).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Damage::NotOurs,
            _ => Damage::Io(error),
        })?;
        Ok(HistoryRing { seconds: understand(&first)?, file })
    }

    /// The number of slots.
    pub fn seconds(&self) -> u32 {
        self.seconds
    }

    /// Writes a record. It replaces the record that used the slot one round earlier.
    pub fn write(&self, second: &Second) -> io::Result<()> {
        self.file.write_all_at(&second.encode(), self.place(second.time))
    }

    /// Calls `take` for each record of the time range, in order.
    pub fn each(&self, times: RangeInclusive<u32>, mut take: impl FnMut(Second)) -> io::Result<()> {
        let (mut from, to) = self.within_reach(times)?.into_inner();
        let mut bytes = vec![0; AT_ONCE as usize * SIZE];
        while from <= to {
            // Number of slots that are contiguous in the file.
            let count = (to - from).saturating_add(1).min(AT_ONCE).min(self.seconds - from % self.seconds);
            let there = self.fill(&mut bytes, count as usize * SIZE, self.place(from))?;
            let (places, _) = there.as_chunks();
            for (time, place) in (from..).zip(places) {
                // A slot may still hold a record of the previous round.
                if let Some(second) = Second::decode(place).filter(|second| second.time == time) {
                    take(second);
                }
            }
            match from.checked_add(count) {
                Some(next) => from = next,
                None => break,
            }
        }
        Ok(())
    }

    /// Restricts the time range to the capacity of the ring, counted back from its newest record.
    fn within_reach(&self, times: RangeInclusive<u32>) -> io::Result<RangeInclusive<u32>> {
        let (from, to) = times.into_inner();
        if to.saturating_sub(from) < self.seconds {
            return Ok(from..=to);
        }
        let to = to.min(self.newest()?);
        Ok(from.max(to.saturating_sub(self.seconds - 1))..=to)
    }

    fn newest(&self) -> io::Result<u32> {
        let mut newest = 0;
        let mut bytes = vec![0; AT_ONCE as usize * SIZE];
        for first in (0..self.seconds).step_by(AT_ONCE as usize) {
            let count = AT_ONCE.min(self.seconds - first) as usize;
            let (places, _) = self.fill(&mut bytes, count * SIZE, self.place(first))?.as_chunks();
            newest = places.iter().filter_map(Second::decode).map(|second| second.time).fold(newest, u32::max);
        }
        Ok(newest)
    }

    /// Reads up to `count` bytes. The file grows as records are written, so it may have fewer.
    fn fill<'a>(&self, bytes: &'a mut [u8], count: usize, at: u64) -> io::Result<&'a [u8]> {
        let (wanted, _) = bytes.split_at_mut(count);
        let mut filled = 0;
        while let Some(rest) = wanted.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.file.read_at(rest, at + filled as u64)? {
                0 => break,
                read => filled += read,
            }
        }
        Ok(wanted.get(..filled).unwrap_or_default())
    }

    fn place(&self, time: u32) -> u64 {
        HEADER + u64::from(time % self.seconds) * SIZE as u64
    }
}

const HEADER_BYTES: usize = MAGIC.len() + 16;

/// Magic, version, size of a record, number of slots, checksum.
fn header(seconds: u32) -> [u8; HEADER_BYTES] {
    let mut bytes = MAGIC.to_vec();
    [VERSION, SIZE as u32, seconds].iter().for_each(|n| bytes.extend_from_slice(&n.to_le_bytes()));
    let mut crc = Crc::new();
    crc.update(&bytes);
    bytes.extend_from_slice(&crc.sum().to_le_bytes());
    let mut header = [0; HEADER_BYTES];
    header.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    header
}

fn understand(first: &[u8; HEADER_BYTES]) -> Result<u32, Damage> {
    let (numbers, _) = first.get(MAGIC.len()..).unwrap_or_default().as_chunks::<4>();
    let numbers: Vec<u32> = numbers.iter().map(|number| u32::from_le_bytes(*number)).collect();
    match numbers[..] {
        [version, ..] if first.starts_with(MAGIC) && version != VERSION => Err(Damage::OtherVersion),
        [_, _, seconds, _] if seconds > 0 && *first == header(seconds) => Ok(seconds),
        _ => Err(Damage::NotOurs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(seconds: u32) -> HistoryRing {
        HistoryRing::open(tempfile::tempfile().expect("a file"), seconds).expect("a ring")
    }

    fn times(ring: &HistoryRing, times: RangeInclusive<u32>) -> Vec<u32> {
        let mut found = Vec::new();
        ring.each(times, |second| found.push(second.time)).expect("read");
        found
    }

    fn at(time: u32) -> Second {
        Second { time, ..Second::default() }
    }

    #[test]
    fn new_records_replace_the_oldest() {
        let ring = ring(10);
        (1000..1025).filter(|time| *time != 1017).for_each(|time| ring.write(&at(time)).expect("written"));
        assert_eq!(times(&ring, 0..=5000), [1015, 1016, 1018, 1019, 1020, 1021, 1022, 1023, 1024]);
        assert_eq!(times(&ring, 1018..=1020), [1018, 1019, 1020]);
        assert_eq!(times(&ring, 0..=u32::MAX).len(), 9, "without a loop over all possible times");
        assert!(times(&ring, 1030..=u32::MAX).is_empty());
    }

    #[test]
    fn a_week_is_less_than_50_mb() {
        let ring = ring(WEEK);
        let (first, last) = (WEEK, 2 * WEEK - 1);
        [first, last].iter().for_each(|time| ring.write(&at(*time)).expect("written"));
        let size = ring.file.metadata().expect("a file").len();
        assert_eq!(size, 48_388_096);
        assert_eq!(times(&ring, first..=last), [first, last]);
    }

    #[test]
    fn only_a_torn_record_is_skipped() {
        let ring = ring(100);
        (1..=20).for_each(|time| ring.write(&at(time)).expect("written"));
        ring.file.write_all_at(&[0xff; 40], ring.place(7) + 30).expect("written");
        // The file ends inside the last record.
        ring.file.set_len(ring.place(20) + 11).expect("cut");
        let left: Vec<u32> = (1..20).filter(|time| *time != 7).collect();
        assert_eq!(times(&ring, 0..=100), left);
    }

    #[test]
    fn other_files_are_refused() {
        let of = |bytes: &[u8]| {
            let file = tempfile::tempfile().expect("a file");
            file.write_all_at(bytes, 0).expect("written");
            HistoryRing::open(file, WEEK)
        };
        assert!(matches!(of(b"127.0.0.1 - - [23/Nov/2026] \"GET / HTTP/1.1\" 200"), Err(Damage::NotOurs)));
        assert!(matches!(of(b"x"), Err(Damage::NotOurs)));
        let mut later = header(WEEK);
        later[MAGIC.len()] = 9;
        assert!(matches!(of(&later), Err(Damage::OtherVersion)));
        let mut spoilt = header(WEEK);
        spoilt[MAGIC.len() + 9] ^= 1;
        assert!(matches!(of(&spoilt), Err(Damage::NotOurs)));
        assert!(of(&header(WEEK)).is_ok());
    }
}
