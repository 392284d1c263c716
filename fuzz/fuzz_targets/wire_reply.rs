//! Messages of a worker: they respect the limits, or cause an error that ends the packet.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::reply::{MAX_PAYLOAD, PacketMessages, Reply};

fuzz_target!(|bytes: &[u8]| {
    slope::watch(bytes, |bytes| PacketMessages::new(bytes).take_while(Result::is_ok).for_each(drop));
    for message in PacketMessages::new(bytes) {
        let Ok((id, reply)) = message else { break };
        if let Reply::Body(body) = &reply {
            assert!(body.len() <= MAX_PAYLOAD);
        }
        let mut again = Vec::new();
        reply.put(id, &mut again);
        assert_eq!(PacketMessages::new(&again).next(), Some(Ok((id, reply))));
    }
});
