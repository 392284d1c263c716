//! Pools of workers: their definition, and the choice of a pool for a place.

use wire::control::PoolNumber;

use crate::draft::{Draft, OpenedSection, Position};
use crate::model::context::{Rank, Scope, SectionContext};
use crate::model::pools::DEFAULT_NAME;
use crate::syntax::tree::Directive;
use crate::table::row::{CONTAINERS, Contexts, Effect, Row, SERVER, places, rows, section, word};

/// All contexts except the main server, whose requests use the default pool.
const PLACES: Contexts = places(SectionContext::VirtualHost as u8 | CONTAINERS.places);

pub static ROWS: &[Row] = rows![
    "cameleer.c",
    section("WorkerPool", SERVER, "name", 1..=1, worker_pool)
        .effect(Effect::Generation)
        .because("one pool is enough for one application"),
    "A separate pool of workers for places with `PerlPool name`. Its mold loads only PerlModule and PerlRequire of \
     this section and of those places. It may have its own PerlGeneration, StartServers, MaxClients and worker limits; \
     other settings are inherited from the server's pool, which is called default. MemoryBudget applies to all pools \
     together. See docs/operating/pools.md.",
    word("PerlPool", PLACES, "name", perl_pool).effect(Effect::Generation).because("default, the server's own pool"),
    "The `<WorkerPool>` whose workers handle requests of this place. As with all settings, the place that is merged \
     last decides. PerlModule and similar lines load into the pool of their section. A virtual host with `PerlOptions \
     +Parent` is a pool of its own.",
];

/// The pool of a section, if the section itself chooses one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionPool<'a> {
    /// `<WorkerPool name>`, or a place with `PerlPool name`.
    To(&'a str),
    /// A virtual host with `PerlOptions +Parent`.
    ToItself,
}

/// The pool that `section` chooses, see [`SectionPool`].
pub fn belongs(section: &Directive) -> Option<SectionPool<'_>> {
    let inside = section.section.as_deref()?;
    if is(section, "WorkerPool") {
        return section.args.first().map(|name| SectionPool::To(name));
    }
    let chosen = inside.iter().find(|directive| is(directive, "PerlPool")).and_then(|it| it.args.first());
    match chosen {
        Some(name) => Some(SectionPool::To(name)),
        None => (is(section, "VirtualHost") && inside.iter().any(|it| has_option(it, "Parent")))
            .then_some(SectionPool::ToItself),
    }
}

/// Whether `directive` is `PerlOptions +Name`.
pub fn has_option(directive: &Directive, name: &str) -> bool {
    let mut words = directive.args.iter().map(|word| word.strip_prefix('+').unwrap_or(word));
    is(directive, "PerlOptions") && words.any(|word| word.eq_ignore_ascii_case(name))
}

/// Whether the contents of a section are read by another pool than the default one, and not as part of a host.
pub fn is_elsewhere(section: &Directive) -> bool {
    matches!(belongs(section), Some(SectionPool::To(name)) if !is_default(name))
}

/// Whether `name` names the server's own pool.
pub fn is_default(name: &str) -> bool {
    name.eq_ignore_ascii_case(DEFAULT_NAME)
}

fn is(directive: &Directive, name: &str) -> bool {
    directive.name.eq_ignore_ascii_case(name)
}

/// `<WorkerPool name>`. Its contents are read last, because the pool inherits settings of the server.
fn worker_pool(draft: &mut Draft, _: &[String], inside: &[Directive]) -> OpenedSection {
    let section = draft.new_section(Scope::Host, None, Rank::HOST)?;
    let pool = draft.position.pool;
    draft
        .postponed
        .push((Position { context: SectionContext::WorkerPool, section, ..draft.position }, inside.to_vec()));
    if let Some(named) = draft.config.named_mut(pool) {
        named.base = Some(section);
    }
    Ok(None)
}

/// `PerlPool name`
fn perl_pool(draft: &mut Draft, name: &str) -> Result<(), String> {
    let pool = match draft.config.pool_called(name) {
        Some(pool) => pool,
        None if draft.excess_pools > 0 => return Ok(()), // the excess of pools is reported once
        None => return Err(unknown(draft, name)),
    };
    if let Some(other) = draft.settings().pool.filter(|configured| *configured != pool) {
        return Err(format!(
            "this place already has pool {}; remove one of the two lines",
            draft.config.pool_name(other)
        ));
    }
    draft.settings().pool = Some(pool);
    Ok(())
}

fn unknown(draft: &Draft, name: &str) -> String {
    let known = |number: PoolNumber| draft.config.pool_name(number).to_owned();
    let known: Vec<String> = draft.config.pool_numbers().map(known).collect();
    format!("there is no <WorkerPool {name}>; define it outside of all sections, or name one of {}", known.join(", "))
}
