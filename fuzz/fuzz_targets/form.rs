//! Fields of a form: pairs, in order, none longer than the input.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    slope::watch(bytes, |bytes| form::urlencoded::pairs(bytes).for_each(drop));
    let pairs: Vec<_> = form::urlencoded::pairs(bytes).collect();
    assert!(pairs.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>() <= bytes.len());
    let again: Vec<u8> = pairs.iter().flat_map(|(name, value)| [escaped(name), b"=".into(), escaped(value), b"&".into()].concat()).collect();
    assert_eq!(form::urlencoded::pairs(&again).collect::<Vec<_>>(), pairs);
});

fn escaped(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| format!("%{byte:02x}").into_bytes()).collect()
}
