//! Base: modules that every part of the front may use, and that use no part of it.

pub mod address;
pub mod blocking;
pub mod broadcast;
pub mod changed_headers;
pub mod databases;
pub mod failure;
pub mod fair;
pub mod field_names;
pub mod lock;
pub mod master;
pub mod measures;
pub mod pieces;
pub mod protocol;
pub mod refusal;
pub mod refusals;
pub mod response_facts;
pub mod shared;
pub mod slowest;
pub mod target;
pub mod turn;
