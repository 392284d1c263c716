//! Texts of `.htaccess` files: the pairs that are read stay the same when they are encoded again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::overrides::{pairs, put};

fuzz_target!(|bytes: &[u8]| {
    slope::watch(bytes, |bytes| pairs(bytes).for_each(drop));
    let read: Vec<(&[u8], &str)> = pairs(bytes).collect();
    let mut again = Vec::new();
    read.iter().for_each(|(folder, text)| put(folder, text, &mut again));
    assert!(again.len() <= bytes.len() + 1);
    assert_eq!(pairs(&again).collect::<Vec<_>>(), read);
});
