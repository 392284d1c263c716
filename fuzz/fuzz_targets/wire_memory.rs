//! Shared memory that a worker may overwrite at any time: the front reads packets within the limits, or an
//! error.
//!
//! Each ten bytes of the input are a word and its place, among the first words of the memory or of a ring; the
//! front reads before each write.
#![no_main]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use libfuzzer_sys::fuzz_target;
use wire::memory::{FrontMemory, Memory, SharedMemory, WORDS, ring_at};
use wire::reply::{MAX_PACKET, PacketMessages, Reply};

struct Heap(Vec<AtomicU64>);

impl SharedMemory for Heap {
    fn words(&self) -> &[AtomicU64] {
        &self.0
    }

    fn bytes(&self, _: usize, _: usize) -> Option<&[u8]> {
        None
    }
}

fuzz_target!(|bytes: &[u8]| {
    slope::watch(bytes, read_all);
    read_all(bytes);
});

fn read_all(bytes: &[u8]) {
    let memory: Memory = Arc::new(Heap((0..WORDS).map(|_| AtomicU64::new(0)).collect()));
    let front = FrontMemory::new(memory.clone(), 64, || {});
    let mut ring = front.reader(0);
    let (mut packet, mut lent) = (Vec::new(), Vec::new());
    for write in bytes.chunks_exact(10) {
        let place = usize::from(u16::from_le_bytes([write[0], write[1]]));
        let word = u64::from_le_bytes(write[2..].try_into().expect("eight bytes"));
        let at = if place < 64 { place } else { ring_at(0) + place - 64 };
        memory.words()[at].store(word, Relaxed);
        front.send(1, b"frame", 0);
        front.take_back();
        match ring.read(&mut packet) {
            Ok(true) => assert!(packet.len() <= MAX_PACKET),
            Ok(false) => continue,
            Err(_) => return,
        }
        for message in PacketMessages::new(&packet) {
            let Ok((_, reply)) = message else { return };
            if let Reply::Lent { block, length } = reply {
                let Ok(block) = front.lender().take(block, length) else { return };
                lent.push(block);
            }
        }
    }
}
