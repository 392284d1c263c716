//! A process-wide cache of compressed files, in bounded memory.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, Response};

use super::body::{AT_ONCE, BodySource, Encoder, EncoderAction, EncoderStep, FileBody, Segment, in_turn};
use crate::base::fair::Claimant;
use crate::routing::Route;
use base::stamp::Stamp;
use config::response::compress::{Coding, TagChange};

/// Maximum size in bytes of a cached file. Longer files are compressed for each client; `PrecompressedFiles` is meant
/// for them.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Maximum total bytes of the cached compressed files, and the overhead of each.
const MAX_TOTAL_BYTES: usize = 32 << 20;
const EACH: usize = 256;
/// A file modified within this time is not cached: another change could leave its stamp the same.
const TICK: Duration = Duration::from_secs(2);

/// The file's state, coding and level. The value `None` means that compression does not make the file shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    stamp: Stamp,
    coding: Coding,
    level: u32,
}

type Packed = Option<Bytes>;

static KEPT: LazyLock<Mutex<PackedFiles>> = LazyLock::new(Mutex::default);

/// A cache of two generations: when `recent` reaches half of the maximum size, it replaces `older`. Hits move to
/// `recent`.
#[derive(Default)]
struct PackedFiles {
    recent: HashMap<Key, Packed>,
    recent_bytes: usize,
    older: HashMap<Key, Packed>,
}

impl PackedFiles {
    fn get(&mut self, key: &Key) -> Option<Packed> {
        if let Some(packed) = self.older.remove(key) {
            self.put(*key, packed);
        }
        self.recent.get(key).cloned()
    }

    fn put(&mut self, key: Key, packed: Packed) {
        let size = EACH + packed.as_ref().map_or(0, Bytes::len);
        if self.recent_bytes + size > MAX_TOTAL_BYTES / 2 {
            self.older = std::mem::take(&mut self.recent);
            self.recent_bytes = 0;
        }
        if self.recent.insert(key, packed).is_none() {
            self.recent_bytes += size;
        }
    }
}

/// Whether the compressed form of a file of this size may be cached.
pub fn is_for(route: &Route, size: u64) -> bool {
    route.settings.response.may_compress() && size <= MAX_FILE_BYTES
}

/// A response with a file that is read later, if at all: its compressed form may be cached.
pub fn unread(file: Arc<File>, size: u64, stamp: Stamp, described: HeaderMap) -> Response<BodySource> {
    let mut response = Response::new(BodySource::Empty);
    if size > 0 {
        *response.body_mut() = BodySource::File(FileBody::new(file, [Segment::Range { from: 0, to: size }]));
        response.extensions_mut().insert(stamp);
    }
    *response.headers_mut() = described;
    response
}

/// The content coding of a response.
#[derive(Clone, Copy)]
pub struct ChosenCoding {
    pub coding: Coding,
    /// Compression level, as the coding counts it.
    pub level: u32,
    /// The change of the entity tag. `None`: the tag becomes weak.
    pub tag: Option<TagChange>,
}

/// The body to send: the compressed one, or the plain one where compression does not make it shorter.
pub enum FileResponse {
    Packed(Bytes),
    Plain(BodySource),
}

/// The compressed file, from the cache or compressed now.
pub async fn compressed(
    file: FileBody,
    stamp: Stamp,
    chosen: ChosenCoding,
    claimant: Claimant,
) -> io::Result<FileResponse> {
    let ChosenCoding { coding, level, .. } = chosen;
    let key = Key { stamp, coding, level };
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner).get(&key);
    match kept {
        Some(Some(packed)) => return Ok(FileResponse::Packed(packed)),
        Some(None) => return Ok(FileResponse::Plain(BodySource::File(file))),
        None => {}
    }
    let is_settled = stamp.age_at(SystemTime::now()) > TICK;
    let encoder = Encoder::new(coding, level, Some(file.length()))?;
    let (plain, packed) = match encoder.cost_of(file.length()) > AT_ONCE {
        true => in_turn(claimant, move || pack(file, encoder))
            .await
            .unwrap_or_else(|| Err(io::Error::other("the thread that compressed the file has panicked")))?,
        false => packed(file.whole().await?, encoder)?,
    };
    if is_settled {
        KEPT.lock().unwrap_or_else(PoisonError::into_inner).put(key, packed.clone());
    }
    Ok(packed.map_or(FileResponse::Plain(BodySource::whole(plain)), FileResponse::Packed))
}

/// Reads and compresses a file; call it on a thread that may block on the disk.
fn pack(mut file: FileBody, encoder: Encoder) -> io::Result<(Bytes, Packed)> {
    let mut plain = Vec::with_capacity(file.length() as usize);
    while let Some(piece) = file.next()? {
        plain.extend_from_slice(&piece);
    }
    packed(plain.into(), encoder)
}

fn packed(plain: Bytes, mut encoder: Encoder) -> io::Result<(Bytes, Packed)> {
    let packed = encoder.run(&EncoderStep { pieces: vec![plain.clone()], then: EncoderAction::Finish })?;
    let is_shorter = packed.len() < plain.len();
    Ok((plain, is_shorter.then(|| Bytes::from(packed.into_boxed_slice()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_stays_within_its_size_and_evicts_the_least_used() {
        let stamp = Stamp::of(&std::fs::metadata("Cargo.toml").expect("a file"));
        let key = |level| Key { stamp, coding: Coding::Gzip, level };
        let mut kept = PackedFiles::default();
        kept.put(key(0), Some(Bytes::from_static(b"used")));
        for level in 1..1000 {
            kept.put(key(level), Some(vec![0; 200_000].into()));
            assert!(kept.get(&key(0)).is_some());
            let all = kept.recent.values().chain(kept.older.values()).flatten();
            assert!(all.map(Bytes::len).sum::<usize>() <= MAX_TOTAL_BYTES);
        }
        assert!(kept.get(&key(999)).is_some() && kept.get(&key(1)).is_none());
    }
}
