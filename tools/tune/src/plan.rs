//! `--dry-run`: describes the measurements.

use super::compare::candidates;
use super::load::TestLoad;
use super::site::TunedSite;

/// Formats the description in lines.
pub fn text(site: &TunedSite, load: &TestLoad, seconds: u64) -> String {
    let pool = &site.config.pool;
    let mut text = format!(
        "{}: a second server of it is started on ports of 127.0.0.1, without its logs and pid file\n\
         {} visitors send {}, {} different requests in total, for about {seconds} s\n\
         MaxClients            {} now; 1, 2, 4 … up to {} are measured\n\
         StartServers etc.      {} {} {} now; burst of all visitors, with these and with all workers started\n",
        site.name,
        load.visitors,
        site.target.url(),
        load.urls(),
        pool.max_clients,
        load.visitors,
        pool.start,
        pool.min_spare,
        pool.max_spare
    );
    for candidate in candidates(site) {
        text += &format!("{:<21} {} now, and {}\n", candidate.name, candidate.from, candidate.to);
    }
    for note in &load.notes {
        text += &format!("{note}\n");
    }
    text
}
