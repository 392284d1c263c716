//! Compresses a cached response once for all clients that accept the coding.

use std::sync::Arc;

use bytes::Bytes;

use super::Cache;
use super::store::StoredResponse;
use config::response::compress::Coding;

/// Links a response to the cached entry that holds its compressed forms.
#[derive(Clone)]
pub struct Packing {
    cache: Arc<Cache>,
    kept: StoredResponse,
}

impl Packing {
    /// The link to the stored entry of `cache`.
    pub fn new(cache: &Arc<Cache>, kept: &StoredResponse) -> Packing {
        Packing { cache: cache.clone(), kept: kept.clone() }
    }

    /// The body in this coding, if it was compressed before. `Some(None)`: the compressed body is not shorter.
    pub fn packed(&self, coding: Coding, level: u32) -> Option<Option<Bytes>> {
        self.kept.forms.get(coding, level)
    }

    /// Stores a compressed body for later requests.
    pub fn keep(&self, coding: Coding, level: u32, packed: Option<&Bytes>) {
        // Copied, so that the stored form does not hold the rest of a larger buffer.
        let grown = self.kept.forms.put(coding, level, packed.map(|packed| Bytes::copy_from_slice(packed)));
        self.cache.grow(&self.kept, grown);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use http::{HeaderMap, StatusCode};

    use super::*;
    use crate::base::response_facts::AlwaysHeaders;
    use crate::cache::StoreLookup;
    use crate::cache::forms::Forms;
    use crate::cache::key::Key;
    use crate::cache::response::CachedResponse;
    use crate::cache::terms::Terms;

    #[test]
    fn a_compressed_body_is_shared_by_requests() {
        let (cache, none) = (Arc::new(Cache::new(100_000, None)), HeaderMap::new());
        let key = Key { resource: b"a"[..].into(), asked: Vec::new() };
        let terms = Terms { lifetime: Duration::from_secs(60), ..Terms::default() };
        let (headers, always) = (none.clone(), AlwaysHeaders::default());
        let (status, body, forms) = (StatusCode::OK, Bytes::from_static(b"page"), Forms::default());
        let answer =
            CachedResponse { status, reason: None, headers, always, body, forms, terms, since: Instant::now() };
        cache.keep(&key, &none, Arc::new(answer));
        let found = || match cache.find(&key, &none) {
            StoreLookup::Response(kept) => Some(Packing::new(&cache, &kept)),
            StoreLookup::Passed | StoreLookup::Nothing => None,
        };
        let first = found().expect("it is kept");
        assert_eq!(first.packed(Coding::Gzip, 6), None);
        first.keep(Coding::Gzip, 6, Some(&Bytes::from_static(b"packed")));
        first.keep(Coding::Brotli, 5, None);
        let second = found().expect("it is kept");
        assert_eq!(second.packed(Coding::Gzip, 6), Some(Some(Bytes::from_static(b"packed"))));
        assert_eq!((second.packed(Coding::Gzip, 9), second.packed(Coding::Brotli, 5)), (None, Some(None)));
        second.keep(Coding::Gzip, 9, Some(&Bytes::from(vec![0; 100_000])));
        assert!(found().is_none(), "with it there is no room for the answer");
    }
}
