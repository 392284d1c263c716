//! `cameleer purge URL`: removes an address, or all addresses with a common prefix, from the cache.

use std::collections::HashSet;

use http::Uri;
use http::uri::PathAndQuery;

use super::asked::resource_at;
use crate::cache::Cache;
use crate::cache::key::{Key, is_below};
use crate::cache::shared::SharedCache;
use crate::generation::Generations;
use base::log;
use base::path::{Text, normalise};
use config::Config;
use config::response::cache::Caching;

const EXPECTED: &str = "expected http://host/path or /path, optionally with * at the end";

/// Removes the responses matching `url` from all generations, and from other servers; returns the number of those here.
pub async fn purge(generations: &Generations, url: &str) -> Result<u64, String> {
    let meant = PurgedAddresses::parse(url).ok_or_else(|| format!("{EXPECTED}, got \"{url}\""))?;
    let mut gone = 0;
    for generation in generations.all() {
        if let Some(cache) = &generation.cache {
            // First, so that nothing comes from the store meanwhile.
            cache.shared().iter().for_each(|shared| meant.purge_elsewhere(&generation.config, shared, url));
            gone += meant.purge(&generation.config, cache).await;
        }
    }
    log::info("front", format_args!("purge {url}: {gone} responses removed"));
    Ok(gone as u64)
}

/// Removes the responses matching the URL of a purge on another server. An URL that this release does not know means
/// all.
pub async fn purge_here(config: &Config, cache: &Cache, url: &str) {
    match PurgedAddresses::parse(url) {
        Some(meant) => drop(meant.purge(config, cache).await),
        None => drop(cache.forget_all(|_| true).await),
    }
}

struct PurgedAddresses {
    /// The host name. `None`: all hosts.
    name: Option<String>,
    /// Path and query. `None`: all.
    target: Option<Uri>,
    /// Whether the address is a prefix.
    beginning: bool,
}

impl PurgedAddresses {
    fn parse(url: &str) -> Option<PurgedAddresses> {
        let (text, beginning) = url.strip_suffix('*').map_or((url, false), |text| (text, true));
        if text.is_empty() && beginning {
            return Some(PurgedAddresses { name: None, target: None, beginning });
        }
        if text.starts_with('/') {
            let target = Some(text.parse::<PathAndQuery>().ok()?.into());
            return Some(PurgedAddresses { name: None, target, beginning });
        }
        let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"))?;
        let uri = text.parse::<Uri>().ok()?;
        // A `*` inside the host name matches no host.
        let is_whole = !beginning || rest.contains('/');
        is_whole.then(|| PurgedAddresses { name: uri.host().map(str::to_owned), target: Some(uri), beginning })
    }

    /// The hosts that are meant.
    fn hosts(&self, config: &Config) -> Vec<u16> {
        match &self.name {
            Some(name) => config.hosts_that_answer(name),
            None => (0..).zip(&config.hosts).map(|(host, _)| host).collect(),
        }
    }

    /// Removes the responses from other servers. The store cannot list addresses, so a beginning empties it.
    fn purge_elsewhere(&self, config: &Config, shared: &SharedCache, url: &str) {
        match &self.target {
            Some(target) if !self.beginning => {
                let resources = self.hosts(config).into_iter().filter_map(|host| resource(config, host, target));
                resources.for_each(|resource| shared.purge(&resource));
            }
            _ => shared.purge_all(url),
        }
    }

    async fn purge(&self, config: &Config, cache: &Cache) -> usize {
        let hosts = self.hosts(config);
        match &self.target {
            None => cache.forget_all(|_| true).await,
            Some(target) if self.beginning => forget_below(cache, hosts, target).await,
            Some(target) => {
                hosts.into_iter().filter_map(|host| resource(config, host, target)).map(|it| cache.forget(&it)).sum()
            }
        }
    }
}

/// The resource on a host, with the ignored parameters of its location removed.
fn resource(config: &Config, host: u16, target: &Uri) -> Option<Box<[u8]>> {
    resource_at(host, &caching(config, host, target)?, target)
}

/// Whether responses of an address may be cached, as far as that depends on neither a request nor `.htaccess` files.
pub fn is_on_at(config: &Config, host: u16, target: &Uri) -> bool {
    let path = normalise(target.path().as_bytes());
    caching(config, host, target).zip(path.ok()).is_some_and(|(caching, path)| caching.is_on(&path))
}

/// The cache directives of an address.
fn caching(config: &Config, host: u16, target: &Uri) -> Option<Caching> {
    let path = Text::new(&normalise(target.path().as_bytes()).ok()?).0;
    let served = || {
        let usual = if target.scheme_str() == Some("https") { 443 } else { 80 };
        config.served_name(host, target.authority().map_or("", |named| named.as_str()), usual, "127.0.0.1")
    };
    let served = config.has_virtual_folders(host).then(served);
    let mapping = config.translate(host, &path, served.as_ref());
    let sections = config.sections(host, &path, &mapping.filename);
    Some(config.settings(&sections, mapping.script_alias).caching.clone())
}

async fn forget_below(cache: &Cache, hosts: Vec<u16>, target: &Uri) -> usize {
    let Ok(path) = normalise(target.path().as_bytes()) else { return 0 };
    let hosts: HashSet<u16> = hosts.into_iter().collect();
    let beginning = Key::resource(0, &path, target.query());
    cache.forget_all(|resource| is_below(resource, &hosts, &beginning)).await
}
