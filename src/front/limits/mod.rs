//! How much clients may have at once: connections, requests under way, requests in a time.

pub mod concurrency;
pub mod connections;
pub mod rate;
