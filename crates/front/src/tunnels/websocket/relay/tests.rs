//! Connections whose both ends are here.

use std::future::{Future, poll_fn};
use std::pin::Pin;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use websocket::WebSocketLimits;

use super::*;

/// The client's and the worker's end, and the relay between.
struct Ends {
    client: DuplexStream,
    worker: DuplexStream,
    relay: Relay<DuplexStream, DuplexStream>,
    now: Instant,
}

impl Ends {
    fn new() -> Ends {
        let ((client, here), (worker, there)) = (duplex(1 << 10), duplex(1 << 10));
        let limits = WebSocketLimits { message: 1000, frame: 1000 };
        let session = WebSocketSession { deflate: None, limits, passes_control: false, most_frames: 0, worker: 1 };
        Ends { client, worker, relay: Relay::new(here, there, &session), now: Instant::now() }
    }

    /// Runs `work` beside the relay.
    async fn beside<T>(
        relay: &mut Relay<DuplexStream, DuplexStream>,
        now: Instant,
        work: impl Future<Output = T>,
    ) -> T {
        let mut work = std::pin::pin!(work);
        poll_fn(|cx| {
            let _ = relay.poll(cx, now);
            work.as_mut().poll(cx)
        })
        .await
    }

    async fn client_sends(&mut self, bytes: &[u8]) {
        Ends::beside(&mut self.relay, self.now, self.client.write_all(bytes)).await.expect("written");
    }

    async fn worker_sends(&mut self, kind: u8, payload: &[u8]) {
        let frame = [&[kind][..], &(payload.len() as u32).to_be_bytes(), payload].concat();
        Ends::beside(&mut self.relay, self.now, self.worker.write_all(&frame)).await.expect("written");
    }

    async fn client_gets(&mut self, expected: &[u8]) {
        let mut bytes = vec![0; expected.len()];
        Ends::beside(&mut self.relay, self.now, self.client.read_exact(&mut bytes)).await.expect("bytes");
        assert_eq!(bytes, expected);
    }

    async fn worker_gets(&mut self, kind: u8, payload: &[u8]) {
        let mut header = [0; 5];
        Ends::beside(&mut self.relay, self.now, self.worker.read_exact(&mut header)).await.expect("a header");
        let mut found = vec![0; u32::from_be_bytes([header[1], header[2], header[3], header[4]]) as usize];
        Ends::beside(&mut self.relay, self.now, self.worker.read_exact(&mut found)).await.expect("a payload");
        assert_eq!((header[0], String::from_utf8_lossy(&found)), (kind, String::from_utf8_lossy(payload)));
    }

    /// Sends zeros of the worker until no more are taken. Returns their number; above 1 MiB there is no end.
    async fn fill(&mut self) -> usize {
        let (relay, worker, now) = (&mut self.relay, &mut self.worker, self.now);
        let mut taken = 0;
        poll_fn(|cx| {
            while taken < 1 << 20
                && let Poll::Ready(written) = Pin::new(&mut *worker).poll_write(cx, &[0; 512])
            {
                taken += written.expect("written");
                let _ = relay.poll(cx, now);
            }
            Poll::Ready(())
        })
        .await;
        taken
    }

    /// Whether the relay is done.
    async fn is_over(&mut self) -> bool {
        let (relay, now) = (&mut self.relay, self.now);
        poll_fn(|cx| Poll::Ready(relay.poll(cx, now).is_ready())).await
    }

    /// Lets time pass.
    fn pass(&mut self, time: Duration) {
        self.now += time;
        self.relay.tick(self.now);
    }
}

/// A client's frame; a mask of zeros changes nothing.
fn sent(first: u8, payload: &[u8]) -> Vec<u8> {
    assert!(payload.len() < 126);
    [&[first, 0x80 | payload.len() as u8, 0, 0, 0, 0][..], payload].concat()
}

/// Runs a test in which each I/O operation that can succeed does, however many there are.
fn run(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(tokio::task::unconstrained(work));
}

#[test]
fn messages_go_both_ways_and_pings_are_answered() {
    run(async {
        let mut ends = Ends::new();
        ends.client_sends(&[sent(0x01, b"he"), sent(0x89, b"p"), sent(0x80, b"llo"), sent(0x82, b"\x00")].concat())
            .await;
        ends.worker_gets(1, b"hello").await;
        ends.worker_gets(2, b"\x00").await;
        ends.client_gets(b"\x8a\x01p").await;
        ends.worker_sends(1, b"back").await;
        ends.client_gets(b"\x81\x04back").await;
        assert!(!ends.is_over().await);
    });
}

#[test]
fn a_close_of_the_client_is_answered_and_reported() {
    run(async {
        let mut ends = Ends::new();
        ends.client_sends(&sent(0x88, b"\x0f\xa1bye")).await;
        ends.client_gets(b"\x88\x05\x0f\xa1bye").await;
        ends.worker_gets(8, b"\x0f\xa1bye").await;
        assert!(ends.is_over().await);
    });
}

#[test]
fn a_close_of_the_worker_waits_for_the_clients() {
    run(async {
        let mut ends = Ends::new();
        ends.worker_sends(8, b"\x03\xe8").await;
        ends.worker_sends(1, b"late").await;
        ends.client_gets(b"\x88\x02\x03\xe8").await;
        assert!(!ends.is_over().await);
        ends.client_sends(&[sent(0x81, b"crossed"), sent(0x88, b"\x03\xe8")].concat()).await;
        ends.worker_gets(8, b"\x03\xe8").await;
        assert!(ends.is_over().await);
        let mut ends = Ends::new();
        ends.worker_sends(8, b"\x03\xe8").await;
        ends.client_gets(b"\x88\x02\x03\xe8").await;
        ends.pass(CLOSE_TIME);
        ends.worker_gets(9, b"\x03\xeeclient_timeout").await;
        assert!(ends.is_over().await);
    });
}

#[test]
fn a_client_that_violates_the_protocol_or_leaves_is_reported() {
    for (bytes, close, code, why) in [
        (sent(0x83, b""), 1002_u16, 1002_u16, "protocol_error"),
        (sent(0x81, b"\xff"), 1007, 1007, "protocol_error"),
        (b"\x82\xfe\x07\xd0keys".to_vec(), 1009, 1009, "body_too_large"),
    ] {
        run(async {
            let mut ends = Ends::new();
            ends.client_sends(&bytes).await;
            let mut head = [0; 4];
            Ends::beside(&mut ends.relay, ends.now, ends.client.read_exact(&mut head)).await.expect("a close frame");
            assert_eq!((head[0], u16::from_be_bytes([head[2], head[3]])), (0x88, close));
            ends.worker_gets(9, &[&code.to_be_bytes(), why.as_bytes()].concat()).await;
            assert!(ends.is_over().await);
        });
    }
    run(async {
        let mut ends = Ends::new();
        ends.client.shutdown().await.expect("shut down");
        ends.worker_gets(9, b"\x03\xeeclient_closed").await;
        assert!(ends.is_over().await);
    });
}

#[test]
fn a_worker_that_ends_or_sends_nonsense_closes_with_1011() {
    run(async {
        let mut ends = Ends::new();
        ends.worker.shutdown().await.expect("shut down");
        ends.client_gets(b"\x88\x02\x03\xf3").await;
        assert!(ends.relay.fault.is_some());
        ends.client_sends(&sent(0x88, b"\x03\xf3")).await;
        assert!(ends.is_over().await);
        let mut ends = Ends::new();
        ends.relay.is_leaving = true;
        ends.worker.shutdown().await.expect("shut down");
        ends.client_gets(b"\x88\x02\x03\xf4").await;
        assert_eq!(ends.relay.fault, None, "a reload is no fault");
        let mut ends = Ends::new();
        ends.worker_sends(7, b"").await;
        ends.client_gets(b"\x88\x02\x03\xf3").await;
        assert!(ends.relay.fault.is_some());
    });
}

#[test]
fn messages_before_the_end_of_a_worker_that_passes_control_are_written() {
    run(async {
        let mut ends = Ends::new();
        ends.relay.passes_control = true;
        for _ in 0..30 {
            ends.worker_sends(2, &[b'x'; 100]).await;
        }
        ends.worker.shutdown().await.expect("shut down");
        assert!(!ends.is_over().await, "the client has not read them");
        for _ in 0..30 {
            ends.client_gets(&[&b"\x82\x64"[..], &[b'x'; 100]].concat()).await;
        }
        assert!(ends.is_over().await);
    });
}

#[test]
fn pings_are_sent_at_the_applications_interval() {
    run(async {
        let mut ends = Ends::new();
        let (interval, timeout) = (Duration::from_secs(30), Duration::from_secs(20));
        ends.worker_sends(10, &[30_000_u32.to_be_bytes(), 20_000_u32.to_be_bytes()].concat()).await;
        assert!(!ends.is_over().await);
        assert_eq!(ends.relay.due(), Some(ends.now + interval));
        ends.pass(interval);
        ends.client_gets(b"\x89\x00").await;
        ends.client_sends(&sent(0x8a, b"")).await;
        assert!(!ends.is_over().await);
        ends.pass(interval);
        ends.client_gets(b"\x89\x00").await;
        ends.pass(timeout);
        ends.worker_gets(9, b"\x03\xeekeepalive_timeout").await;
        assert!(ends.is_over().await);
    });
}

#[test]
fn a_client_that_reads_nothing_stops_the_worker_and_is_given_up() {
    run(async {
        let mut ends = Ends::new();
        // The head of a message of 16 MiB, and as much of it as is taken.
        Ends::beside(&mut ends.relay, ends.now, ends.worker.write_all(b"\x02\x01\0\0\0")).await.expect("written");
        let taken = ends.fill().await;
        assert!(taken < 3 * MAX_WAITING_BYTES, "{taken}");
        assert_eq!(ends.relay.due(), Some(ends.now + WRITE_TIME));
        ends.pass(WRITE_TIME);
        assert!(ends.is_over().await);
    });
}

#[test]
fn a_client_that_reads_a_little_lets_the_worker_send_as_little() {
    run(async {
        let mut ends = Ends::new();
        Ends::beside(&mut ends.relay, ends.now, ends.worker.write_all(b"\x02\x01\0\0\0")).await.expect("written");
        let (mut taken, mut read) = (ends.fill().await, 0);
        for _ in 0..500 {
            let mut bytes = [0; 300];
            Ends::beside(&mut ends.relay, ends.now, ends.client.read_exact(&mut bytes)).await.expect("bytes");
            read += bytes.len();
            taken += ends.fill().await;
            assert!(taken < read + 3 * MAX_WAITING_BYTES, "{taken} {read}");
        }
        assert!(taken > 2 * MAX_WAITING_BYTES, "{taken}");
    });
}

/// Messages of 100 bytes that have arrived with one read, as if inflated: many times what may wait for the worker.
fn flood(ends: &mut Ends) -> usize {
    let count = 5000;
    for _ in 0..count {
        ends.relay.client.input.extend_from_slice(&sent(0x82, &[b'x'; 100]));
    }
    count
}

#[test]
fn messages_of_one_read_wait_until_the_worker_has_room() {
    run(async {
        let mut ends = Ends::new();
        let count = flood(&mut ends);
        assert!(!ends.is_over().await);
        let waiting = ends.relay.worker.output.len();
        assert!(waiting <= MAX_WAITING_BYTES + 1024 + 105, "{waiting}");
        for _ in 0..count {
            ends.worker_gets(2, &[b'x'; 100]).await;
        }
        ends.client_sends(&sent(0x88, b"\x03\xe8")).await;
        ends.worker_gets(8, b"\x03\xe8").await;
        assert!(ends.is_over().await);
    });
}

#[test]
fn a_client_that_leaves_is_noticed_while_the_worker_reads_nothing() {
    run(async {
        let mut ends = Ends::new();
        let count = flood(&mut ends);
        ends.relay.client.input.truncate(1200 * 106);
        assert!(count > 1200 && !ends.is_over().await);
        let ahead = ends.relay.client.input.len();
        assert!(ahead > 0 && ahead < MAX_AHEAD_BYTES, "{ahead}");
        ends.client.shutdown().await.expect("shut down");
        assert!(!ends.is_over().await);
        assert_eq!(ends.relay.left, Some("client_closed"));
        // A worker that reads again gets all of what was sent before.
        for _ in 0..1200 {
            ends.worker_gets(2, &[b'x'; 100]).await;
        }
        ends.worker_gets(9, b"\x03\xeeclient_closed").await;
        assert!(ends.is_over().await);
    });
}

#[test]
fn a_worker_that_reads_nothing_while_messages_wait_is_given_up() {
    for leaves in [false, true] {
        run(async {
            let mut ends = Ends::new();
            flood(&mut ends);
            assert!(!ends.is_over().await);
            assert_eq!(ends.relay.due(), Some(ends.now + WRITE_TIME));
            if leaves {
                ends.relay.client.input.truncate(1000);
                ends.client.shutdown().await.expect("shut down");
                assert!(!ends.is_over().await);
            }
            ends.pass(WRITE_TIME);
            assert!(ends.relay.fault.is_some());
            if !leaves {
                ends.client_gets(b"\x88\x02\x03\xf5").await;
                ends.client_sends(&sent(0x88, b"\x03\xf5")).await;
            }
            assert!(!ends.is_over().await, "the worker's output waits");
            ends.pass(Duration::ZERO);
            assert!(ends.is_over().await);
        });
    }
}

#[test]
fn the_time_for_an_answer_to_a_ping_does_not_run_while_messages_wait_for_room() {
    run(async {
        let mut ends = Ends::new();
        let (interval, timeout) = (Duration::from_secs(15), Duration::from_secs(5));
        ends.worker_sends(10, &[15_000_u32.to_be_bytes(), 5_000_u32.to_be_bytes()].concat()).await;
        let count = flood(&mut ends);
        assert!(!ends.is_over().await);
        ends.pass(interval);
        ends.client_gets(b"\x89\x00").await;
        assert_eq!(ends.relay.due(), Some(ends.now + interval), "no end of the time for the answer");
        ends.pass(timeout);
        assert!(!ends.relay.is_over);
        for _ in 0..count {
            ends.worker_gets(2, &[b'x'; 100]).await;
        }
        assert!(!ends.is_over().await);
        assert_eq!(ends.relay.due(), Some(ends.now + timeout), "the time begins again");
        ends.pass(timeout);
        ends.worker_gets(9, b"\x03\xeekeepalive_timeout").await;
        assert!(ends.is_over().await);
    });
}
