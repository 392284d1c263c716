//! Certificates of managed domains: when they are due ([`AcmeSchedule`]), what the process that gets them is told
//! ([`job()`]), and the folder in which they are stored ([`CertificateStore`]).
//!
//! ```text
//!   a certificate is due ──▶ acme process: Work ──▶ Issued ──▶ CertificateStore ──▶ front: Certificates, without a reload
//!            ▲                                  └──▶ Failed ─┐
//!            └──── renewal window, or the wait after it ◀────┘
//! ```

mod job;
mod schedule;
mod store;

pub use self::job::{domain, job};
pub use self::schedule::{AcmeSchedule, Attempt, DomainState, WantedDomain};
pub use self::store::CertificateStore;
