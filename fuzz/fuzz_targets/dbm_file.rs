//! DBM files: every value lies in the file or was copied from it, and a file is read in linear time.
#![no_main]

use databases::DbmFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    slope::watch(bytes, |bytes| drop(DbmFile::parse(bytes.to_vec())));
    if let Ok(file) = DbmFile::parse(bytes.to_vec()) {
        assert!(file.size() <= 64 * bytes.len() + 64);
        assert!(file.get(b"ana").is_none_or(|value| value.len() <= 2 * bytes.len()));
    }
});
