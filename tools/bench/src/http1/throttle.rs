//! A client behind a slow line: it reads at a limited rate.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, sleep_until};

/// Interval between reads.
const STEP: Duration = Duration::from_millis(50);

/// Time of the next read, and its size.
pub struct ReadThrottle {
    bytes_per_second: f64,
    next: Instant,
}

impl ReadThrottle {
    /// A limit of `bits` per second.
    pub fn new(bits: f64) -> ReadThrottle {
        ReadThrottle { bytes_per_second: bits / 8.0, next: Instant::now() }
    }

    /// Reads the bytes of one interval, after a pause for the bytes read before.
    pub async fn read(&mut self, stream: &mut (impl AsyncRead + Unpin), room: &mut [u8]) -> io::Result<usize> {
        sleep_until(self.next).await;
        let most = (self.bytes_per_second * STEP.as_secs_f64()).max(1.0) as usize;
        let length = room.len().min(most);
        let size = stream.read(room.get_mut(..length).unwrap_or_default()).await?;
        self.next = Instant::now() + Duration::from_secs_f64(size as f64 / self.bytes_per_second);
        Ok(size)
    }
}
