//! How much clients may have at once: connections. What is limited in
//! requests the pool counts: `workers/pool/concurrency.rs`, `workers/pool/rate/`.

pub mod connections;
