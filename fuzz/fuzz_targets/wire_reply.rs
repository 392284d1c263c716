//! Messages of a worker: they respect the limits, or cause an error that ends the packet.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::reply::{MAX_PAYLOAD, Packet, Reply};

fuzz_target!(|bytes: &[u8]| {
    slope::watch(bytes, |bytes| Packet::new(bytes).take_while(Result::is_ok).for_each(drop));
    for message in Packet::new(bytes) {
        let Ok((id, reply)) = message else { break };
        if let Reply::Body(body) = &reply {
            assert!(body.len() <= MAX_PAYLOAD);
        }
        let mut again = Vec::new();
        reply.put(id, &mut again);
        assert_eq!(Packet::new(&again).next(), Some(Ok((id, reply))));
    }
});
