use std::sync::Arc;

use tokio::runtime::Builder;

use super::*;

fn limited(most: u64, total: u64) -> Spool {
    Spool::new(Rc::new(SpoolStore::new(Spooling { folder: None, most, total }, Arc::default())))
}

fn spool() -> Spool {
    limited(1 << 30, 1 << 30)
}

/// Writes all batches, as another thread does.
fn write(spool: &mut Spool) {
    while let Some(batch) = spool.next_batch() {
        spool.written(batch.write());
    }
}

fn push(spool: &mut Spool, count: u32) {
    (0..count).for_each(|number| spool.push(vec![number as u8; 1000].into()));
}

/// Appends pieces with a fast disk: each is written at once.
fn fill(spool: &mut Spool, count: u32) {
    for number in 0..count {
        spool.push(vec![number as u8; 1000].into());
        write(spool);
    }
}

fn pop(spool: &mut Spool) -> Option<Bytes> {
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(std::future::poll_fn(|cx| spool.poll(cx))).expect("it can be read")
}

fn drain(spool: &mut Spool) -> Vec<u8> {
    std::iter::from_fn(|| pop(spool)).flatten().collect()
}

fn numbers(count: u32) -> impl Iterator<Item = u8> {
    (0..count).flat_map(|number| [number as u8; 1000])
}

#[test]
fn small_pieces_weigh_more_than_their_bytes() {
    let mut dust = spool();
    while !dust.is_full() {
        dust.push(Bytes::from_static(b"x"));
    }
    assert!(dust.pieces.len() <= HIGH_WATER / PIECE_COST, "{}", dust.pieces.len());
    drain(&mut dust);
    assert_eq!(dust.in_memory, 0);
}

#[test]
fn a_full_spool_has_room_again_when_it_may_use_a_file() {
    let mut spool = spool();
    fill(&mut spool, 300);
    assert!(spool.is_full());
    spool.spill();
    assert!(!spool.is_full());
}

#[test]
fn a_spool_returns_bytes_in_order_from_memory_and_file() {
    let mut spool = spool();
    spool.spill();
    fill(&mut spool, 400);
    let mut all = pop(&mut spool).expect("there is more").to_vec();
    fill(&mut spool, 3);
    assert!(spool.end > 0);
    assert_eq!(spool.len(), 402_000);
    all.extend(drain(&mut spool));
    assert!(all.into_iter().eq(numbers(400).chain(numbers(3))));
    assert!(spool.is_empty());
}

#[test]
fn a_spool_returns_bytes_in_order_while_its_file_is_written() {
    // `taken` pieces are read before the batch, during it, or after it: from none to more than a batch.
    for taken in (0..300).step_by(50) {
        for at in 0..3 {
            let mut spool = spool();
            spool.spill();
            let mut all = Vec::new();
            let mut take = |spool: &mut Spool, now: u32| {
                let count = if now == at { taken } else { 10 };
                (0..count).filter_map(|_| pop(spool)).for_each(|bytes| all.extend_from_slice(&bytes));
            };
            push(&mut spool, 200);
            take(&mut spool, 0);
            let batch = spool.next_batch();
            push(&mut spool, 200);
            take(&mut spool, 1);
            assert!(batch.is_none() || spool.next_batch().is_none(), "one batch at a time");
            batch.into_iter().for_each(|batch| spool.written(batch.write()));
            take(&mut spool, 2);
            write(&mut spool);
            all.extend(drain(&mut spool));
            assert!(all.into_iter().eq(numbers(200).chain(numbers(200))), "{taken} taken in step {at}");
            assert_eq!((spool.in_memory, spool.unwritten), (0, 0));
        }
    }
}

#[test]
fn a_worker_waits_for_a_disk_that_is_slow() {
    let mut spool = spool();
    spool.spill();
    let mut count = 0;
    while !spool.is_full() {
        push(&mut spool, 1);
        count += 1;
    }
    assert!(spool.in_memory + spool.unwritten <= SPILLED_HIGH_WATER + MAX_UNWRITTEN_BYTES + 2 * (1000 + PIECE_COST));
    let batch = spool.next_batch().expect("something to write");
    assert!(spool.is_full(), "it is not written yet");
    spool.written(batch.write());
    assert!(!spool.is_full() && spool.unwritten == 0);
    assert_eq!(drain(&mut spool).len(), 1000 * count);
}

#[test]
fn pieces_in_memory_move_to_the_file_when_it_is_opened() {
    let mut spool = spool();
    push(&mut spool, 240);
    spool.spill();
    write(&mut spool);
    assert!(spool.in_memory <= SPILLED_HIGH_WATER + 1000 + PIECE_COST, "{}", spool.in_memory);
    assert!(drain(&mut spool).into_iter().eq(numbers(240)));
}

#[test]
fn a_file_that_takes_no_more_leaves_the_rest_in_memory_and_the_worker_waits() {
    for (most, total) in [(0, 1 << 30), (100_000, 1 << 30), (1 << 30, 100_000)] {
        let mut spool = limited(most, total);
        spool.spill();
        fill(&mut spool, 300);
        assert!(spool.is_stuck() && spool.end <= 100_000, "{most} {total}: {}", spool.end);
        assert_eq!(drain(&mut spool).len(), 300_000);
        assert!(!spool.is_stuck());
    }
}

#[test]
fn pieces_that_cannot_be_written_stay_in_memory() {
    let mut spool = spool();
    spool.spill();
    fill(&mut spool, 100);
    push(&mut spool, 100);
    let batch = spool.next_batch().expect("something to write");
    push(&mut spool, 50);
    drop(batch);
    spool.written(Err(ErrorKind::StorageFull.into()));
    assert!(spool.is_stuck() && spool.unwritten == 0 && spool.next_batch().is_none());
    assert!(drain(&mut spool).into_iter().eq(numbers(100).chain(numbers(100)).chain(numbers(50))));
    assert!(!spool.is_stuck());
}

#[test]
fn a_dropped_spool_releases_its_memory_and_its_file() {
    let mut spool = spool();
    let store = spool.store.clone();
    spool.spill();
    fill(&mut spool, 300);
    push(&mut spool, 100);
    let batch = spool.next_batch().expect("something to write");
    assert!(store.holds_files());
    spool.clear();
    assert_eq!((spool.in_memory, spool.unwritten), (0, 0));
    batch.write().expect("nobody wants it");
    // Another thread closes the file.
    while store.holds_files() {
        std::thread::yield_now();
    }
    push(&mut spool, 300);
    assert!(store.holds_memory());
    drop(spool);
    assert!(!store.holds_memory() && !store.holds_files());
}
