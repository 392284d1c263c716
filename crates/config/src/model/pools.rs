//! Pools of workers beside the default pool: each has its own mold, code, API and limits.

use wire::control::PoolNumber;

use crate::model::config::{Config, Facts};
use crate::model::perl::api::{MODPERL2, PerlGeneration};
use crate::model::scheduling::LimitPlace;
use crate::model::server::{NamedPool, PerlSwitches, PoolSettings};
use crate::model::settings::Settings;
use crate::syntax::tree::At;

/// Number of the default pool, which handles requests outside of places with another pool.
pub const DEFAULT: PoolNumber = 0;
/// Name of the default pool in `PerlPool`, logs and status.
pub const DEFAULT_NAME: &str = "default";
/// Name of the pool of CGI programs in logs and status.
pub const PROGRAMS_NAME: &str = "cgi";
/// Error message for Perl code that would configure a place of another pool.
pub const CODE_ELSEWHERE: &str = "Perl code can change the configuration only in places of the default pool, which runs the code; move it \
    elsewhere, or load the pool's code with PerlModule or PerlRequire";
/// Maximum number of pools. Each needs a mold, a Perl process that stays, and workers.
pub const MAX_POOLS: usize = 32;

impl Config {
    /// Number of pools, including the default pool and that of CGI programs.
    pub fn pool_count(&self) -> PoolNumber {
        self.perl_pool_count() + PoolNumber::from(self.program_pool.is_some())
    }

    /// Number of pools whose processes run Perl. Their numbers come first.
    fn perl_pool_count(&self) -> PoolNumber {
        PoolNumber::try_from(self.more_pools.len() + 1).unwrap_or(PoolNumber::MAX - 1)
    }

    /// Numbers of the pools whose processes run Perl.
    pub fn perl_pool_numbers(&self) -> impl Iterator<Item = PoolNumber> + use<> {
        DEFAULT..self.perl_pool_count()
    }

    /// Number of the pool of CGI programs.
    pub fn program_pool_number(&self) -> Option<PoolNumber> {
        self.program_pool.is_some().then(|| self.perl_pool_count())
    }

    /// Whether the processes of this pool run CGI programs and no Perl.
    pub fn is_of_programs(&self, number: PoolNumber) -> bool {
        self.program_pool_number() == Some(number)
    }

    /// The pool that answers requests with these settings.
    pub fn pool_for(&self, settings: &Settings) -> PoolNumber {
        let programs = self.program_pool_number().filter(|_| settings.is_program_alone());
        programs.unwrap_or(settings.pool)
    }

    /// From 0, the default pool.
    pub fn pool_numbers(&self) -> impl Iterator<Item = PoolNumber> + use<> {
        DEFAULT..self.pool_count()
    }

    /// The pool with this name, in any case.
    pub fn pool_called(&self, name: &str) -> Option<PoolNumber> {
        self.pool_numbers().find(|number| self.pool_name(*number).eq_ignore_ascii_case(name))
    }

    /// Position of the pool's definition. `None` for the default pool.
    pub fn pool_at(&self, number: PoolNumber) -> Option<At> {
        self.named(number).map(|named| named.at.clone())
    }

    /// Whether Perl code in places of a pool may change the configuration. The only perl that runs such code has the
    /// server's API, and the code of the default pool. mod_perl 2 permits it in a host with its own pool, too.
    pub fn may_configure(&self, number: PoolNumber) -> bool {
        self.named(number).is_none_or(|named| named.is_host && named.perl.generation == self.perl.generation)
    }

    /// Pools of virtual hosts.
    pub fn host_pools(&self) -> Vec<PoolNumber> {
        self.pool_numbers().filter(|number| self.named(*number).is_some_and(|named| named.is_host)).collect()
    }

    /// A pool other than the default pool.
    pub fn named_mut(&mut self, number: PoolNumber) -> Option<&mut NamedPool> {
        self.more_pools.get_mut(usize::from(number).checked_sub(1)?)
    }

    /// Settings of the pool with this number; the default pool's for a number that no named pool has.
    pub fn pool_mut(&mut self, number: PoolNumber) -> &mut PoolSettings {
        match self.more_pools.get_mut(usize::from(number).wrapping_sub(1)) {
            Some(named) => &mut named.pool,
            None => &mut self.pool,
        }
    }

    fn named(&self, number: PoolNumber) -> Option<&NamedPool> {
        let programs = self.program_pool.as_deref().filter(|_| self.is_of_programs(number));
        programs.or_else(|| self.more_pools.get(usize::from(number).checked_sub(1)?))
    }

    /// The default pool's for a number that no other pool has.
    pub fn pool_of(&self, number: PoolNumber) -> &PoolSettings {
        self.named(number).map_or(&self.pool, |named| &named.pool)
    }

    /// Perl's switches in a pool.
    pub fn perl_of(&self, number: PoolNumber) -> &PerlSwitches {
        self.named(number).map_or(&self.perl, |named| &named.perl)
    }

    /// mod_perl's API in a pool: 1 or 2; 0 in the pool of programs, which has no Perl.
    pub fn api_number(&self, number: PoolNumber) -> u8 {
        if self.is_of_programs(number) { 0 } else { self.perl_of(number).generation.number() }
    }

    /// As in `<WorkerPool>`; the default pool has a fixed name.
    pub fn pool_name(&self, number: PoolNumber) -> &str {
        self.named(number).map_or(DEFAULT_NAME, |named| &named.name)
    }

    /// The name of a limit that servers share, for requests of a pool: host, sections and pool.
    pub fn limit_name(&self, place: &LimitPlace, pool: PoolNumber) -> String {
        let host = self.hosts.get(usize::from(place.host));
        let name = host.and_then(|host| host.server_name.as_deref()).unwrap_or_default();
        let number =
            host.filter(|host| host.namesakes > 0).map_or(String::new(), |host| format!("#{}", host.namesakes + 1));
        format!("{name}{number}:{}:{}", place.section, self.pool_name(pool))
    }

    /// ` pool=old` for log lines, or nothing for the default pool where it is the only one with Perl.
    pub fn pool_label(&self, number: PoolNumber) -> String {
        let is_only = self.more_pools.is_empty() && number == DEFAULT;
        if is_only { String::new() } else { format!(" pool={}", self.pool_name(number)) }
    }

    /// Whether the server's pools use both of mod_perl's APIs.
    pub fn uses_both_apis(&self) -> bool {
        self.uses_both_apis
    }

    /// The configuration for the mold of a pool: its start-up steps, sizes and API. Sections and hosts keep their
    /// indices, which the front sends to workers.
    pub fn for_pool(mut self, number: PoolNumber) -> Config {
        self.own_pool = number;
        self.pool = self.pool_of(number).clone();
        self.perl = *self.perl_of(number);
        self.start_up.retain(|it| it.pool == number);
        self.handlers.retain(|it| it.pool == number);
        self.facts = self.facts.speaking(self.perl.generation);
        self
    }

    /// Sections of the own pool's processes with their host indices: of `<WorkerPool>`, and of the hosts in the pool.
    pub fn bases(&self) -> impl Iterator<Item = (usize, u16)> {
        let own = self.named(self.own_pool).and_then(|named| named.base);
        let hosts = self.hosts.iter().map(|host| host.base).enumerate();
        let is_ours = |base: u16| self.sections.get(usize::from(base)).is_some_and(|it| it.pool == self.own_pool);
        own.map(|base| (0, base)).into_iter().chain(hosts.filter(move |(_, base)| is_ours(*base)))
    }
}

impl Facts {
    /// A copy of the inputs for another API.
    pub fn speaking(mut self, generation: PerlGeneration) -> Facts {
        self.defined.retain(|(name, _)| name != MODPERL2 || generation == PerlGeneration::Two);
        if generation == PerlGeneration::Two && self.generation() == PerlGeneration::One {
            self.defined.push((MODPERL2.to_owned(), None));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::parse::{self, ParserSource};

    fn config(text: &str) -> Config {
        let tree = parse::text(text, "test", &ParserSource::disk("/srv", &|_| None)).expect("directives");
        Config::build(&tree, &Facts { server_root: "/srv".into(), ..Facts::default() }).expect("a configuration")
    }

    #[test]
    fn limits_of_different_sections_have_different_names_and_keep_them() {
        let speed = "SpeedLimit requests=1/1s\n";
        let limit = format!("{speed}MaxConcurrentReqs 1\n");
        let inner = format!("<Directory /srv/DIR>\n<Files x>\n{limit}</Files>\n</Directory>\n");
        let text = format!(
            "Listen 80\nServerName main\n<Location /a>\n{limit}</Location>\n<Location /a>\n{limit}</Location>\n{}{}\
             <VirtualHost *:80>\nServerName a\n{speed}</VirtualHost>\n<VirtualHost *:81>\n{speed}ServerName a\n</VirtualHost>",
            inner.replace("DIR", "one"),
            inner.replace("DIR", "two")
        );
        let names = |config: &Config| {
            let speeds = config.sections.iter().filter_map(|section| section.own.scheduling.speed.clone()?);
            let speeds: Vec<String> = speeds.map(|limit| config.limit_name(&limit.place, DEFAULT)).collect();
            let throttles = config.sections.iter().filter_map(|section| section.own.access.throttles.clone());
            let throttles: Vec<String> =
                throttles.flatten().map(|limit| config.limit_name(&limit.place, DEFAULT)).collect();
            assert_eq!(throttles.len(), 4);
            assert!(throttles.iter().all(|name| speeds.contains(name)), "{throttles:?} {speeds:?}");
            speeds
        };
        let mut all = names(&config(&text));
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), 6, "{all:?}");
        // Lines before do not change them.
        assert_eq!(names(&config(&format!("<Location /0>\nHeader set a b\n</Location>\n{text}"))), all);
        all.sort();
        all.retain(|name| !name.contains("<Files"));
        let right = ["a#2::default", "a::default", "main:<Location /a>#2:default", "main:<Location /a>:default"];
        assert_eq!(all, right);
    }
}
