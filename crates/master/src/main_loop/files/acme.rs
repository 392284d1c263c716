//! Certificates of managed domains: the process that gets them is started when some are due, what it gets is stored,
//! and the front gets it without a reload.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use wire::control::ToFront;
use wire::transport::in_memory;

use crate::acme::{Attempt, CertificateStore, DomainState, WantedDomain, domain, job};
use crate::children::peer::Fd;
use crate::children::start_acme;
use crate::main_loop::Master;
use crate::main_loop::turn::ALL_LEFT;
use base::{log, printable};
use config::tls::managed::{ManagedDomain, RenewWindow};
use status::ManagedCertificateStatus;
use tls::acme::{FromAcme, IssuedCertificate, ToAcme, shorten};
use tls::managed::{Validity, is_stored, validity};

/// Longest time without a look at the clock, which may be set, or stand still while the machine sleeps.
const LOOK: Duration = Duration::from_secs(60 * 60);
/// Time after which a process that gets certificates hangs, since its last message.
const PATIENCE: Duration = Duration::from_secs(15 * 60);
/// A failure after which the wait is this long is an error again, about once a day.
const REPEATED: Duration = Duration::from_secs(12 * 60 * 60);

impl Master {
    /// Takes the managed domains of the configuration that serves.
    pub(in crate::main_loop) fn configure_acme(&mut self) {
        let config = &self.checked.config;
        let renewed = config.managed.domains.iter().filter(|domain| domain.is_renewed);
        let wanted: Vec<WantedDomain> = renewed.map(|domain| wanted(domain, validity(config, domain))).collect();
        self.acme.configure(&wanted, random);
        if !wanted.is_empty() {
            // Certificates may have been stored since the configuration was read.
            self.certificates.read_at(Instant::now());
        }
    }

    /// Starts the process that gets certificates, if some are due, and ends one that hangs.
    pub(in crate::main_loop) fn run_acme(&mut self, now: Instant) {
        if self.acme_until.is_some_and(|until| until <= now) {
            self.acme_until = None;
            self.end_acme("does nothing");
        }
        if self.children.acme.is_some() || self.generations.serving().is_none() || self.children.front.is_none() {
            return;
        }
        let due = self.acme.due(SystemTime::now());
        if due.is_empty() {
            return;
        }
        self.acme.started(&due);
        if let Err(error) = self.start_acme(&due, now) {
            self.acme.ended();
            due.iter().for_each(|name| self.acme_failed(name, &format!("{error:#}"), None));
        }
    }

    /// When [`Self::run_acme`] must be called next.
    pub(in crate::main_loop) fn acme_wakes(&self, now: Instant) -> Option<Instant> {
        if self.children.acme.is_some() {
            return self.acme_until;
        }
        // A new front, too, wakes the loop.
        self.children.front.as_ref()?;
        self.generations.serving()?;
        self.acme.wakes(SystemTime::now()).map(|wait| now + wait.min(LOOK))
    }

    fn start_acme(&mut self, names: &[String], now: Instant) -> anyhow::Result<()> {
        let Some(opened) = self.logs.in_use() else { anyhow::bail!("the server does not serve yet") };
        let job = job(&self.checked.config, names, |name| self.acme.failures(name))?;
        let memory = in_memory("certificates due", &serde_json::to_vec(&job)?)?;
        let mut acme = start_acme(&opened.error)?;
        log::info("master", format_args!("acme pid={} started: certificates of {}", acme.pid, names.join(" ")));
        acme.peer.send(ToAcme::Work, vec![Fd::new(memory.into())]);
        self.children.acme = Some(acme);
        self.acme_until = Some(now + PATIENCE);
        Ok(())
    }

    /// Handles messages of the process that gets certificates.
    pub(in crate::main_loop) fn read_acme(&mut self, most: usize) {
        for _ in 0..most {
            let Some(acme) = &mut self.children.acme else { return };
            acme.peer.flush();
            match acme.peer.receive() {
                Ok(Some(message)) => {
                    self.acme_until = Some(Instant::now() + PATIENCE);
                    self.acme_reports(message);
                }
                Ok(None) => return,
                Err(error) => return self.end_acme(&format!("sent an invalid control message ({error})")),
            }
        }
    }

    fn acme_reports(&mut self, message: FromAcme) {
        match message {
            FromAcme::Challenges { serial, challenges } => {
                self.challenges = (serial, challenges);
                self.send_challenges();
            }
            FromAcme::Account { authority, credentials } => {
                let config = &self.checked.config;
                if !config.managed.domains.iter().any(|domain| domain.settings.authorities.contains(&authority)) {
                    return;
                }
                let store = CertificateStore::open(&config.certificate_store());
                if let Err(error) = store.and_then(|store| store.save_account(&authority, &credentials)) {
                    let advice = "the next certificate needs another account";
                    log::error(
                        "master",
                        format_args!("the account with {authority} cannot be stored ({error}); {advice}"),
                    );
                }
            }
            FromAcme::Issued { domain, certificates } => match self.install(&domain, &certificates) {
                Ok(()) => {}
                Err(error) => self.acme_failed(&domain, &format!("{error:#}"), None),
            },
            FromAcme::Failed { domain, error, retry_after_s } => {
                self.acme_failed(&domain, &error, retry_after_s.map(Duration::from_secs));
            }
        }
    }

    /// Sends the front the challenges that it is to answer.
    pub(in crate::main_loop) fn send_challenges(&mut self) {
        let (serial, challenges) = self.challenges.clone();
        self.send_to_front(ToFront::Challenges { serial, challenges }, vec![]);
    }

    /// Whether the front has challenges to answer.
    pub(in crate::main_loop) fn has_challenges(&self) -> bool {
        !self.challenges.1.is_empty()
    }

    /// The front answers the challenges.
    pub(in crate::main_loop) fn challenged(&mut self, serial: u64) {
        if let Some(acme) = &mut self.children.acme {
            acme.peer.send(ToAcme::Placed { serial }, vec![]);
        }
    }

    /// Stores new certificates, and hands them to the front. After an error the present ones stay in use, unless the
    /// new ones are stored and are due at once.
    fn install(&mut self, name: &str, certificates: &[IssuedCertificate]) -> anyhow::Result<()> {
        let config = &self.checked.config;
        let Some(domain) = domain(config, name) else { return Ok(()) };
        let now = SystemTime::now();
        anyhow::ensure!(self.acme.is_running(name), "a certificate was sent that was not requested");
        self.acme.refused(name, now);
        tls::issued::check(certificates, domain, validity(config, domain), now).map_err(anyhow::Error::msg)?;
        CertificateStore::open(&config.certificate_store())?.install(name, certificates)?;
        self.certificates.read_at(Instant::now());
        let validity = validity(config, domain);
        if !self.acme.issued(&wanted(domain, validity), now, random()) {
            anyhow::bail!(
                "the new certificate is stored, and is due for renewal at once; check MDStoreDir and the clock"
            );
        }
        let lasts = validity.map(|validity| left(validity.until)).unwrap_or_default();
        log::notice(
            "master",
            format_args!("MDomain {name}: a new certificate for {} is used, for {lasts}", domain.names.join(" ")),
        );
        Ok(())
    }

    fn acme_failed(&mut self, name: &str, error: &str, retry_after: Option<Duration>) {
        let (now, delay) = (SystemTime::now(), self.checked.config.managed.retry_delay);
        let error = printable::line(&shorten(error));
        let attempt = Attempt { name, error: &error, retry_after, delay, random: random() };
        let Some(failure) = self.acme.failed(&attempt, now) else { return };
        let meanwhile = self.meanwhile(name, now);
        let next = span(failure.wait);
        let line = format!("MDomain {name}: no new certificate: {error}; the next attempt is in {next}, {meanwhile}");
        match failure.is_new || failure.wait >= REPEATED {
            true => log::error("master", line),
            false => log::info("master", line),
        }
    }

    /// Which certificate TLS uses until a new one is there.
    fn meanwhile(&self, name: &str, now: SystemTime) -> String {
        let config = &self.checked.config;
        let present = self.acme.iter().find(|(known, _)| *known == name).and_then(|(_, state)| state.validity);
        match present {
            Some(present) if present.until > now => format!("the present one is good for {}", left(present.until)),
            Some(_) => "the present one has expired and stays in use".to_owned(),
            None if domain(config, name).is_some_and(|domain| is_stored(config, domain)) => {
                "the present one stays in use, and is not for all names or key types".to_owned()
            }
            None => "until then TLS uses a self-signed one, and requests are answered 503".to_owned(),
        }
    }

    /// The process has ended: in order, if it has reported on all domains.
    pub(in crate::main_loop) fn acme_ended(&mut self) {
        self.read_acme(ALL_LEFT);
        self.children.acme = None;
        self.acme_until = None;
        if self.has_challenges() {
            self.challenges = (0, Vec::new());
            self.send_challenges();
        }
        if self.stop.is_under_way() {
            return;
        }
        let error = "the process that gets certificates ended; its messages are in the error log";
        for name in self.acme.ended() {
            self.acme_failed(&name, error, None);
        }
    }

    fn end_acme(&mut self, why: &str) {
        if let Some(acme) = &self.children.acme {
            log::error("master", format_args!("acme pid={} {why}, and is killed", acme.pid));
            acme.kill();
        }
    }

    /// The certificates of managed domains, for the status.
    pub(in crate::main_loop) fn certificate_status(&self) -> Vec<ManagedCertificateStatus> {
        let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let status = |(name, state): (&str, &DomainState)| ManagedCertificateStatus {
            host: name.to_owned(),
            names: domain(&self.checked.config, name).map(|domain| domain.names.clone()).unwrap_or_default(),
            expires_s: state.validity.map(|validity| seconds(validity.until)),
            renews_s: state.renews.map(seconds),
            failures: state.failures,
            error: state.error.clone(),
        };
        self.acme.iter().map(status).collect()
    }
}

fn wanted(domain: &ManagedDomain, validity: Option<Validity>) -> WantedDomain {
    let window = domain.settings.renew_window.unwrap_or(RenewWindow::Percent(33));
    let window = validity.map(|validity| window.of(validity.life())).unwrap_or_default();
    WantedDomain { name: domain.name().to_owned(), validity, window }
}

/// The time until `until`.
fn left(until: SystemTime) -> String {
    span(until.duration_since(SystemTime::now()).unwrap_or_default())
}

fn span(time: Duration) -> String {
    const DAY: u64 = 24 * 60 * 60;
    match time.as_secs() {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        seconds @ 60..7200 => format!("{} min", seconds / 60),
        seconds if seconds < 2 * DAY => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / DAY),
    }
}

/// A number between 0 and 1, so that servers do not do the same at the same time.
fn random() -> f64 {
    f64::from(RandomState::new().hash_one(0) as u32) / f64::from(u32::MAX)
}
