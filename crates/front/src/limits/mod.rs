//! Limits on connections. Limits on requests are in the pool: `workers/pool/concurrency.rs` and `workers/pool/rate/`.

pub mod connections;
