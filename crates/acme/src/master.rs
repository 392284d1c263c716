//! The channel to the master. Its messages are read by a thread of their own; the master reads ours at once.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use wire::channel::Channel;
use wire::control::Challenge;

use tls::acme::{FromAcme, ToAcme};

/// Time for the front to get the challenges. It may have to be started first.
const PLACING: Duration = Duration::from_secs(60);

/// The master, as this process sees it.
pub struct MasterLink {
    channel: Arc<Channel<FromAcme, ToAcme>>,
    placed: UnboundedReceiver<u64>,
    /// Number of the last list of challenges.
    serial: u64,
}

impl MasterLink {
    pub fn new(channel: Arc<Channel<FromAcme, ToAcme>>) -> MasterLink {
        let (sender, placed) = unbounded_channel();
        let from = channel.clone();
        // The thread ends with the master's end of the channel, or with the process.
        std::thread::spawn(move || {
            while let Ok(Some((message, _))) = from.receive() {
                if let ToAcme::Placed { serial } = message
                    && sender.send(serial).is_err()
                {
                    return;
                }
            }
        });
        MasterLink { channel, placed, serial: 0 }
    }

    pub fn send(&self, message: &FromAcme) -> anyhow::Result<()> {
        self.channel.send(message, &[]).context("cannot write to the control channel")
    }

    /// Lets the front answer no challenges any more.
    pub fn clear(&mut self) -> anyhow::Result<()> {
        self.serial += 1;
        self.send(&FromAcme::Challenges { serial: self.serial, challenges: Vec::new() })
    }

    /// Lets the front answer these challenges and no others, and waits until it does.
    pub async fn place(&mut self, challenges: Vec<Challenge>) -> anyhow::Result<()> {
        self.serial += 1;
        self.send(&FromAcme::Challenges { serial: self.serial, challenges })?;
        let wanted = self.serial;
        let placed = async {
            while let Some(serial) = self.placed.recv().await {
                if serial >= wanted {
                    return Ok(());
                }
            }
            bail!("the master has ended")
        };
        let waited = tokio::time::timeout(PLACING, placed).await;
        waited.context("the process that serves clients did not get the challenges in time")?
    }
}
