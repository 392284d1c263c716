//! How many connections there may be. What is limited in requests the pool counts: `workers/pool/concurrency.rs` and
//! `workers/pool/rate/`.

pub mod connections;
