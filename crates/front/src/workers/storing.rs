//! Answers on their way to files, which other threads write: a disk that is slow or hangs keeps only those waiting whose answers go
//! there.

use std::io::ErrorKind;

use super::exchange::SharedExchange;
use crate::base::blocking;

/// Has all written that waits for the file of `exchange`, one batch after the other.
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
