//! Writes responses to files on other threads, so that a slow disk delays only the responses stored there.

use std::io::ErrorKind;

use super::exchange::SharedExchange;
use crate::base::blocking;

/// Writes the unwritten batches of `exchange` to its file, unless a write is already running.
pub fn store(exchange: &SharedExchange) {
    let Some(first) = exchange.borrow_mut().next_batch() else { return };
    let exchange = exchange.clone();
    tokio::task::spawn_local(async move {
        let mut next = Some(first);
        while let Some(batch) = next {
            let length = batch.len();
            let written = blocking::store("store a response", move || batch.write()).await;
            let mut exchange = exchange.borrow_mut();
            exchange.written(written.unwrap_or_else(|_| Err(ErrorKind::OutOfMemory.into())), length);
            next = exchange.next_batch();
        }
    });
}
