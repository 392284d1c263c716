//! Writes responses to files on other threads. A slow or hanging disk delays only the responses that are written there.

use std::io::ErrorKind;

use super::exchange::SharedExchange;
use crate::base::blocking;

/// Starts to write what the spool of `exchange` has for its file, batch by batch, unless that is under way.
pub fn store(exchange: &SharedExchange) {
    let Some(first) = exchange.borrow_mut().next_batch() else { return };
    let exchange = exchange.clone();
    tokio::task::spawn_local(async move {
        let mut next = Some(first);
        while let Some(batch) = next {
            let length = batch.len();
            let written = blocking::store("store an answer", move || batch.write()).await;
            let mut exchange = exchange.borrow_mut();
            exchange.written(written.unwrap_or_else(|_| Err(ErrorKind::OutOfMemory.into())), length);
            next = exchange.next_batch();
        }
    });
}
