//! Definition of pools, and the pool of each section. Pools are found before anything else is read, because a place may
//! name a pool that is defined further down.

use std::collections::HashSet;

use wire::control::PoolNumber;

use crate::draft::Draft;
use crate::model::pools::{DEFAULT, MAX_POOLS, PROGRAMS_NAME};
use crate::model::server::{NamedPool, PerlSwitches, PoolSettings};
use crate::syntax::tree::{ConfigError, Directive};
use crate::table::{SectionPool, belongs, has_option, speaks_of};

const MAX_NAME_BYTES: usize = 64;

impl Draft {
    /// Finds all pools of a tree, and their errors.
    pub(super) fn find_pools(&mut self, tree: &[Directive]) {
        let defined = tree.iter().filter(|directive| is(directive, "WorkerPool") && directive.section.is_some());
        defined.clone().for_each(|directive| self.define_pool(directive));
        tree.iter().filter(|it| belongs(it) == Some(SectionPool::ToItself)).for_each(|host| self.add_host_pool(host));
        if let Some(at) = self.config.more_pools.last().map(|last| last.at.clone()).filter(|_| self.excess_pools > 0) {
            let count = self.config.more_pools.len() + self.excess_pools + 1;
            let message = format!(
                "there are {count} pools of workers, including the default pool, but at most {MAX_POOLS} are allowed, because each needs a \
                 Perl process and workers of its own; let places share pools"
            );
            self.errors.push(ConfigError::at(&at, message));
        }
        if self.config.more_pools.is_empty() {
            return;
        }
        self.find_places(tree);
        for number in self.config.pool_numbers().skip(1) {
            let mut own = Vec::new();
            self.collect(DEFAULT, number, tree, &mut own);
            // Generation from the pool's own directives, else from those in its places, else the server's.
            let configured = speaks_of(own.into_iter()).map(|(generation, _)| generation);
            let generation = configured.unwrap_or(self.config.perl.generation);
            if let Some(named) = self.config.named_mut(number) {
                named.perl.generation = generation;
            }
        }
        let own = self.config.perl.generation;
        self.config.uses_both_apis = self.config.more_pools.iter().any(|named| named.perl.generation != own);
        let mut used = HashSet::new();
        names(tree, &mut used);
        defined.for_each(|directive| self.check_used(directive, &used));
    }

    fn define_pool(&mut self, directive: &Directive) {
        let [name] = directive.args.as_slice() else { return };
        let known = self.config.pool_called(name).map(|number| (number, self.config.pool_at(number)));
        let wrong = match known {
            Some((DEFAULT, _)) => {
                "is the default pool, whose directives are written outside of all sections; use another name".to_owned()
            }
            None if name.eq_ignore_ascii_case(PROGRAMS_NAME) => {
                "is the pool of CGI programs, which CgiMaxProcesses sizes; use another name".to_owned()
            }
            Some((_, at)) => {
                format!("is already defined at {}; use another name for one of them", at.unwrap_or_default())
            }
            None if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(is_plain) => {
                format!("expected letters, digits, -, _ and ., at most {MAX_NAME_BYTES}")
            }
            None => return self.add_pool(name.clone(), directive),
        };
        self.errors.push(ConfigError::at(&directive.at, format!("<WorkerPool {name}>: {wrong}")));
    }

    /// Adds the pool of a virtual host. Its name is the host's name, or else its first address.
    fn add_host_pool(&mut self, host: &Directive) {
        let inside = host.section.as_deref().unwrap_or_default();
        let named = inside.iter().find(|directive| is(directive, "ServerName")).and_then(|it| it.args.first());
        let name = named.or(host.args.first()).cloned().unwrap_or_default();
        let is_taken = |name: &str| name.eq_ignore_ascii_case(PROGRAMS_NAME) || self.config.pool_called(name).is_some();
        let mut others = (host.at.line..).map(|number| format!("{name}:{number}"));
        let free = if is_taken(&name) { others.find(|name| !is_taken(name)) } else { Some(name.clone()) };
        let before = self.config.pool_count();
        self.add_pool(free.unwrap_or(name), host);
        if self.config.pool_count() > before && inside.iter().any(|directive| has_option(directive, "InheritSwitches"))
        {
            self.inherit_switches.push(before);
        }
    }

    fn add_pool(&mut self, name: String, section: &Directive) {
        if self.config.more_pools.len() + 1 >= MAX_POOLS {
            self.excess_pools += 1;
            return;
        }
        let (pool, perl, is_host) = (PoolSettings::default(), PerlSwitches::default(), is(section, "VirtualHost"));
        self.config.more_pools.push(NamedPool { name, at: section.at.clone(), pool, perl, is_host, base: None });
        let number = self.config.pool_count() - 1;
        self.record_section(section, number);
    }

    /// Records the pool of a section by the address of its contents: sections made by Perl code share one file
    /// position.
    fn record_section(&mut self, section: &Directive, pool: PoolNumber) {
        let inside = section.section.as_deref().unwrap_or_default();
        if !inside.is_empty() {
            self.section_pools.insert(inside.as_ptr().addr(), pool);
        }
    }

    /// Records sections with `PerlPool`.
    fn find_places(&mut self, tree: &[Directive]) {
        for section in tree.iter().filter(|directive| !is(directive, "WorkerPool")) {
            let Some(inside) = section.section.as_deref() else { continue };
            if let Some(SectionPool::To(name)) = belongs(section) {
                if let Some(pool) = self.config.pool_called(name) {
                    self.record_section(section, pool);
                }
                if let Some(parent) = inside.iter().find(|it| is(section, "VirtualHost") && has_option(it, "Parent")) {
                    let message = format!(
                        "PerlOptions: Parent gives this host its own pool, but PerlPool names {name}; remove one of them"
                    );
                    self.errors.push(ConfigError::at(&parent.at, message));
                }
            }
            self.find_places(inside);
        }
    }

    /// The pool of a section's contents, where the section itself belongs to `outer`.
    pub(super) fn pool_within(&self, outer: PoolNumber, inside: &[Directive]) -> PoolNumber {
        match inside.is_empty() {
            true => outer,
            false => self.section_pools.get(&inside.as_ptr().addr()).copied().unwrap_or(outer),
        }
    }

    fn collect<'t>(&self, at: PoolNumber, wanted: PoolNumber, tree: &'t [Directive], own: &mut Vec<&'t Directive>) {
        for directive in tree {
            if at == wanted {
                own.push(directive);
            }
            if let Some(inside) = directive.section.as_deref() {
                self.collect(self.pool_within(at, inside), wanted, inside, own);
            }
        }
    }

    /// Reports a pool that no place uses, whose memory would be wasted.
    fn check_used(&mut self, directive: &Directive, used: &HashSet<String>) {
        let Some(name) = directive.args.first().filter(|name| !used.contains(&name.to_ascii_lowercase())) else {
            return;
        };
        let message = format!(
            "<WorkerPool {name}>: no place uses it; write `PerlPool {name}` in a Location, Directory or VirtualHost, or remove the section"
        );
        self.errors.push(ConfigError::at(&directive.at, message));
    }

    /// Applies the contents of `<WorkerPool>` sections over the server's own settings.
    pub(super) fn walk_pools(&mut self) {
        let (pool, preload) = (self.config.pool.clone(), self.config.perl.preload);
        for named in &mut self.config.more_pools {
            named.pool.clone_from(&pool);
            named.perl.preload = preload;
        }
        for (position, inside) in std::mem::take(&mut self.postponed) {
            self.walk_in(position, &inside);
        }
    }
}

fn names(tree: &[Directive], used: &mut HashSet<String>) {
    for directive in tree {
        if is(directive, "PerlPool") {
            used.extend(directive.args.first().map(|name| name.to_ascii_lowercase()));
        }
        names(directive.section.as_deref().unwrap_or_default(), used);
    }
}

fn is(directive: &Directive, name: &str) -> bool {
    directive.name.eq_ignore_ascii_case(name)
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)
}
