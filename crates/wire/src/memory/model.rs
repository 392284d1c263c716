//! Model of the shared memory for loom, which tries all orders in which front and worker can see each other's
//! writes: `make loom`.

#![cfg(loom)]

use std::sync::Arc;

use loom::sync::Notify;
use loom::thread::spawn;

use super::blocks::{self, Lender};
use super::orders::{Receiver, Sender};
use super::replies::{RingReader, RingWriter};
use super::sync::AtomicU64;
use super::{Flag, Memory, SharedMemory, WORDS};

/// Memory within one process; its bytes are never sent.
struct Modelled(Vec<AtomicU64>);

impl SharedMemory for Modelled {
    fn words(&self) -> &[AtomicU64] {
        &self.0
    }

    fn bytes(&self, _: usize, _: usize) -> Option<&[u8]> {
        None
    }
}

fn memory() -> Memory {
    Arc::new(Modelled((0..WORDS).map(|_| AtomicU64::new(0)).collect()))
}

/// Wakes a sleeping side.
#[derive(Clone)]
struct Bell(Arc<Notify>);

impl Bell {
    fn new() -> Bell {
        Bell(Arc::new(Notify::new()))
    }
}

#[test]
fn a_thread_that_sleeps_is_woken_for_each_answer() {
    loom::model(|| {
        let (memory, bell) = (memory(), Bell::new());
        let lender = Lender::new(&memory, 1, || {});
        let mut front = RingReader::new(&memory, 0, &lender);
        let (worker, rings) = (RingWriter::new(&memory, 0), bell.clone());
        let speaks = spawn(move || {
            for number in 1..=2u64 {
                assert!(worker.write(&number.to_ne_bytes()));
                if worker.front_sleeps.take() {
                    rings.0.notify();
                }
            }
        });
        let (mut received, mut packet) = (0u64, Vec::new());
        while received < 2 {
            if front.read(&mut packet).expect("well formed") {
                received += 1;
                assert_eq!(packet, received.to_ne_bytes());
                continue;
            }
            front.sleeps.raise();
            if front.is_empty() {
                bell.0.wait();
            }
        }
        speaks.join().expect("no panic");
    });
}

#[test]
fn a_worker_that_sleeps_is_woken_for_each_request() {
    loom::model(|| {
        let (memory, bell) = (memory(), Bell::new());
        let (mut front, mut worker) = (Sender::new(&memory), Receiver::new(&memory));
        let (asleep, is_asleep) = (Flag::new(&memory, super::WORKER_SLEEPS), Flag::new(&memory, super::WORKER_SLEEPS));
        let rings = bell.clone();
        let asks = spawn(move || {
            for id in 1..=2u64 {
                assert!(front.send(id, &id.to_ne_bytes(), 0));
                if is_asleep.take() {
                    rings.0.notify();
                }
            }
        });
        let (mut begun, mut frame) = (0u64, Vec::new());
        while begun < 2 {
            if worker.claim(&mut frame).is_some() {
                begun += 1;
                assert_eq!(frame, begun.to_ne_bytes());
                continue;
            }
            asleep.raise();
            if !worker.has_next() {
                bell.0.wait();
            }
        }
        asks.join().expect("no panic");
    });
}

#[test]
fn either_the_front_or_the_worker_gets_a_request() {
    loom::model(|| {
        let memory = memory();
        let (mut front, mut worker) = (Sender::new(&memory), Receiver::new(&memory));
        assert!(front.send(1, &1u64.to_ne_bytes(), 0) && front.send(2, &2u64.to_ne_bytes(), 0));
        let works = spawn(move || {
            let (mut claimed, mut frame) = (Vec::new(), Vec::new());
            for _ in 0..2 {
                if worker.claim(&mut frame).is_some() {
                    claimed.push(u64::from_ne_bytes(frame[..8].try_into().expect("an id")));
                }
            }
            claimed
        });
        let back = front.take_back();
        let mut all = works.join().expect("no panic");
        all.extend(back);
        assert_eq!(all, [1, 2], "in order, each once");
    });
}

#[test]
fn a_worker_that_waits_for_a_block_gets_one() {
    loom::model(|| {
        let (memory, bell) = (memory(), Bell::new());
        let worker = blocks::BlockWriter::new(&memory, 1);
        let rings = bell.clone();
        let front = Lender::new(&memory, 1, move || rings.0.notify());
        assert_eq!(worker.write(b"first"), Some((0, 5)));
        let lent = front.take(0, 5).expect("written");
        let gives_back = spawn(move || drop(lent));
        while worker.write(b"second").is_none() {
            if worker.wants_more() {
                bell.0.wait();
            }
        }
        gives_back.join().expect("no panic");
    });
}
