//! Pools of workers beside the server's own: each has a mold, and with it code, an API and limits of its own.

use wire::control::PoolNumber;

use crate::config::model::config::{Config, Facts};
use crate::config::model::perl::api::{Generation, MODPERL2};
use crate::config::model::server::{NamedPool, PerlSwitches, Pool};
use crate::config::syntax::tree::At;

/// The server's own pool: of all that stands outside of the others.
pub const DEFAULT: PoolNumber = 0;
/// How `PerlPool`, logs and status call it.
pub const DEFAULT_NAME: &str = "default";
/// Why Perl code cannot add to the configuration in a place of another pool.
pub const CODE_ELSEWHERE: &str = "Perl code adds to the configuration in places of the server's own pool only, which runs it: move it out of this \
    place, or load what the pool needs with PerlModule or PerlRequire";
/// Each is a perl that stays, with its workers.
pub const MOST: usize = 32;

impl Config {
    /// How many there are, the server's own among them.
    pub fn pool_count(&self) -> PoolNumber {
        PoolNumber::try_from(self.more_pools.len() + 1).unwrap_or(PoolNumber::MAX)
    }

    /// All, by their numbers.
    pub fn pool_numbers(&self) -> impl Iterator<Item = PoolNumber> + use<> {
        DEFAULT..self.pool_count()
    }

    /// The one of that name, however its letters are written.
    pub fn pool_called(&self, name: &str) -> Option<PoolNumber> {
        self.pool_numbers().find(|number| self.pool_name(*number).eq_ignore_ascii_case(name))
    }

    /// Where it is defined; the server's own is nowhere.
    pub fn pool_at(&self, number: PoolNumber) -> Option<At> {
        self.named(number).map(|named| named.at.clone())
    }

    /// Whether Perl code in its places may add to the configuration: the one perl that runs such code speaks the server's API, and knows
    /// what the server's own pool loads. A host that is a pool, mod_perl 2 lets speak, too.
    pub fn may_configure(&self, number: PoolNumber) -> bool {
        self.named(number).is_none_or(|named| named.is_host && named.perl.generation == self.perl.generation)
    }

    /// Those that are virtual hosts.
    pub fn host_pools(&self) -> Vec<PoolNumber> {
        self.pool_numbers().filter(|number| self.named(*number).is_some_and(|named| named.is_host)).collect()
    }

    /// One of those beside the server's own.
    pub fn named_mut(&mut self, number: PoolNumber) -> Option<&mut NamedPool> {
        self.more_pools.get_mut(usize::from(number).checked_sub(1)?)
    }

    fn named(&self, number: PoolNumber) -> Option<&NamedPool> {
        self.more_pools.get(usize::from(number).checked_sub(1)?)
    }

    /// The numbers of a pool.
    pub fn pool_of(&self, number: PoolNumber) -> &Pool {
        self.named(number).map_or(&self.pool, |named| &named.pool)
    }

    /// What the perl of a pool is started with.
    pub fn perl_of(&self, number: PoolNumber) -> &PerlSwitches {
        self.named(number).map_or(&self.perl, |named| &named.perl)
    }

    /// What it is called.
    pub fn pool_name(&self, number: PoolNumber) -> &str {
        self.named(number).map_or(DEFAULT_NAME, |named| &named.name)
    }

    /// ` pool=old` for lines about one of several; nothing where there is one.
    pub fn pool_label(&self, number: PoolNumber) -> String {
        if self.more_pools.is_empty() { String::new() } else { format!(" pool={}", self.pool_name(number)) }
    }

    /// Whether its pools speak both APIs, whosever this is.
    pub fn speaks_both(&self) -> bool {
        self.speaks_both
    }

    /// The same as a mold of that pool has it: what it loads, how large it is, which API it speaks. Sections and hosts keep their
    /// numbers, by which the front means them.
    pub fn for_pool(mut self, number: PoolNumber) -> Config {
        self.own_pool = number;
        self.pool = self.pool_of(number).clone();
        self.perl = *self.perl_of(number);
        self.start_up.retain(|it| it.pool == number);
        self.handlers.retain(|(pool, ..)| *pool == number);
        self.facts = self.facts.speaking(self.perl.generation);
        self
    }

    /// The sections of its processes: of the main server, of its `<WorkerPool>`, of its virtual hosts; with the numbers of their hosts.
    pub fn bases(&self) -> impl Iterator<Item = (usize, u16)> {
        let own = self.named(self.own_pool).and_then(|named| named.base);
        let hosts = self.hosts.iter().map(|host| host.base).enumerate();
        let is_ours = |base: u16| self.sections.get(usize::from(base)).is_some_and(|it| it.pool == self.own_pool);
        own.map(|base| (0, base)).into_iter().chain(hosts.filter(move |(_, base)| is_ours(*base)))
    }
}

impl Facts {
    /// The same where this API is spoken.
    pub fn speaking(mut self, generation: Generation) -> Facts {
        self.defined.retain(|(name, _)| name != MODPERL2 || generation == Generation::Two);
        if generation == Generation::Two && self.generation() == Generation::One {
            self.defined.push((MODPERL2.to_owned(), None));
        }
        self
    }
}
