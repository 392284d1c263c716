//! A request's answer, from what a worker says or a file holds to what HTTP sends.

pub mod body;
pub mod compress;
pub mod from_worker;
pub mod headers;
pub mod page;
