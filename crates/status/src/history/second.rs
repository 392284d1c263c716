//! The record of one second: 80 bytes, a checksum and then little-endian numbers. A number that does not fit is stored
//! as the largest one that does.

use flate2::Crc;
use serde::Serialize;

/// The size of a record in bytes.
pub const SIZE: usize = 80;

/// Declares a struct of numbers, and their little-endian bytes in its order.
macro_rules! record {
    ($(#[$meta:meta])* pub struct $Name:ident { $($(#[$doc:meta])* pub $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        pub struct $Name { $($(#[$doc])* pub $field: $type,)* }

        impl $Name {
            fn bytes(&self) -> Vec<u8> {
                [$(self.$field.to_le_bytes().as_slice(),)*].concat()
            }

            fn of_bytes(mut rest: &[u8]) -> Option<$Name> {
                Some($Name {
                    $($field: <$type>::from_le_bytes(rest.split_off(..size_of::<$type>())?.try_into().ok()?),)*
                })
            }
        }
    };
}

record! {
    /// The events of one second, and the state at its end.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
    pub struct Second {
        /// Unix time.
        pub time: u32,
        /// Responses with status 1xx or 2xx.
        pub ok: u32,
        /// Responses with status 3xx.
        pub redirects: u32,
        /// Responses with status 4xx.
        pub client_errors: u32,
        /// Responses with status 5xx.
        pub server_errors: u32,
        /// Median duration of the requests, in microseconds.
        pub p50_us: u32,
        /// 90th percentile of the duration, in microseconds.
        pub p90_us: u32,
        /// 99th percentile of the duration, in microseconds.
        pub p99_us: u32,
        /// 99th percentile of the wait for a worker, in microseconds.
        pub queue_p99_us: u32,
        /// Workers that handle a request.
        pub busy: u16,
        /// Workers that are free.
        pub idle: u16,
        /// Workers that are starting.
        pub starting: u16,
        /// Workers that are stopping.
        pub retiring: u16,
        /// Requests that wait for a worker.
        pub queued: u32,
        /// Open connections.
        pub connections: u32,
        /// Refused requests.
        pub shed: u32,
        /// Memory of all processes (PSS, which counts shared pages once), in kB.
        pub pss_kb: u32,
        /// Private memory of the workers, in kB.
        pub private_kb: u32,
        /// Shared memory of the workers, in kB. A page counts once for each worker that shares it.
        pub shared_kb: u32,
        /// Workers that exited, for any reason.
        pub exits: u16,
        /// Workers that exited because of a fault.
        pub faults: u16,
        /// Successful reloads.
        pub reloads: u8,
        /// Reloads after which the old configuration stayed.
        pub failed_reloads: u8,
        /// Workers that became the mold.
        pub reforks: u8,
        /// 1 if the front did not answer: all of its numbers are then 0.
        pub front_is_missing: u8,
    }
}

impl Second {
    /// All responses.
    pub fn requests(&self) -> u32 {
        [self.redirects, self.client_errors, self.server_errors].iter().fold(self.ok, |sum, n| sum.saturating_add(*n))
    }

    /// The record as bytes.
    pub fn encode(&self) -> [u8; SIZE] {
        let mut encoded = [0; SIZE];
        encoded.iter_mut().skip(4).zip(self.bytes()).for_each(|(to, from)| *to = from);
        let sum = checksum(&encoded).to_le_bytes();
        encoded.iter_mut().zip(sum).for_each(|(to, from)| *to = from);
        encoded
    }

    /// `None` for an empty slot and for an incomplete record.
    pub fn decode(bytes: &[u8; SIZE]) -> Option<Second> {
        let (sum, numbers) = bytes.split_first_chunk()?;
        let is_whole = u32::from_le_bytes(*sum) == checksum(bytes);
        Second::of_bytes(numbers).filter(|second| is_whole && second.time != 0)
    }
}

/// The checksum of all bytes after the first four, which hold the checksum itself.
fn checksum(bytes: &[u8; SIZE]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes.split_first_chunk::<4>().map_or(&[][..], |(_, rest)| rest));
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn encoding_and_decoding_are_inverse(numbers in proptest::collection::vec(any::<u32>(), 24)) {
            let mut bytes = [0; SIZE];
            bytes.iter_mut().zip(numbers.iter().flat_map(|n| n.to_le_bytes())).for_each(|(to, from)| *to = from);
            let sum = checksum(&bytes).to_le_bytes();
            bytes[..4].copy_from_slice(&sum);
            if let Some(second) = Second::decode(&bytes) {
                prop_assert_eq!(second.encode(), bytes);
            }
        }

        #[test]
        fn a_changed_byte_is_detected(time in 1_u32.., at in 0..SIZE, with in 1_u8..) {
            let mut bytes = Second { time, ok: 7, ..Second::default() }.encode();
            prop_assert!(Second::decode(&bytes).is_some());
            bytes[at] ^= with;
            prop_assert_eq!(Second::decode(&bytes), None);
        }
    }

    #[test]
    fn an_empty_slot_is_none() {
        assert_eq!(Second::decode(&[0; SIZE]), None);
    }
}
