//! Pools of workers: defined by a section, chosen by a place.

use wire::control::PoolNumber;

use crate::config::draft::{Draft, Opened, Position};
use crate::config::model::context::{Context, Rank, Scope};
use crate::config::model::pools::DEFAULT_NAME;
use crate::config::syntax::tree::Directive;
use crate::config::table::row::{CONTAINERS, Contexts, Effect, ROW, Row, SERVER, Takes, places};

/// What stands outside of all sections is the server's own pool's.
const PLACES: Contexts = places(Context::VirtualHost as u8 | CONTAINERS.places);

pub static ROWS: &[Row] = &[
    Row {
        name: "WorkerPool",
        contexts: SERVER,
        takes: Takes::Section("name", 1..=1, worker_pool),
        because: "one pool is enough for one application",
        effect: Effect::Generation,
        about: "Workers of their own for the places that say `PerlPool name`: a mold that loads what PerlModule and PerlRequire name here and in those \
            places, and nothing else; a PerlGeneration, StartServers, MaxClients and limits of workers. What is not said is taken from the \
            server's own pool, which is called default. MemoryBudget is for all pools together. See docs/operating/pools.md.",
        ..ROW
    },
    Row {
        name: "PerlPool",
        contexts: PLACES,
        takes: Takes::Word("name", perl_pool),
        because: "default, the server's own pool",
        effect: Effect::Generation,
        about: "Requests of this place go to the workers of this `<WorkerPool>`. As with all settings, the place that is merged last decides. PerlModule \
            and its kin load into the pool of the section that they stand in. A virtual host with `PerlOptions +Parent` is a pool by itself.",
        ..ROW
    },
];

/// Whose a section is, where it says so itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Belongs<'a> {
    /// `<WorkerPool name>`, or a place with `PerlPool name`
    To(&'a str),
    /// A virtual host with `PerlOptions +Parent`
    ToItself,
}

/// See [`Belongs`].
pub fn belongs(section: &Directive) -> Option<Belongs<'_>> {
    let inside = section.section.as_deref()?;
    if is(section, "WorkerPool") {
        return section.args.first().map(|name| Belongs::To(name));
    }
    let chosen = inside.iter().find(|directive| is(directive, "PerlPool")).and_then(|it| it.args.first());
    match chosen {
        Some(name) => Some(Belongs::To(name)),
        None => (is(section, "VirtualHost") && inside.iter().any(|it| has_option(it, "Parent")))
            .then_some(Belongs::ToItself),
    }
}

/// Whether this is `PerlOptions +Name`.
pub fn has_option(directive: &Directive, name: &str) -> bool {
    let mut words = directive.args.iter().map(|word| word.strip_prefix('+').unwrap_or(word));
    is(directive, "PerlOptions") && words.any(|word| word.eq_ignore_ascii_case(name))
}

/// Whether what stands in a section adds nothing to the configuration: its pool is another than the server's own, and no host.
pub fn is_elsewhere(section: &Directive) -> bool {
    matches!(belongs(section), Some(Belongs::To(name)) if !is_default(name))
}

/// Whether the server's own pool is called so.
pub fn is_default(name: &str) -> bool {
    name.eq_ignore_ascii_case(DEFAULT_NAME)
}

fn is(directive: &Directive, name: &str) -> bool {
    directive.name.eq_ignore_ascii_case(name)
}

/// `<WorkerPool name>`: its contents are read when all is known that it takes from the server.
fn worker_pool(draft: &mut Draft, _: &[String], inside: &[Directive]) -> Opened {
    let section = draft.new_section(Scope::Host, None, Rank::HOST)?;
    let pool = draft.position.pool;
    draft.postponed.push((Position { context: Context::WorkerPool, section, ..draft.position }, inside.to_vec()));
    if let Some(named) = draft.config.named_mut(pool) {
        named.base = Some(section);
    }
    Ok(None)
}

/// `PerlPool name`
fn perl_pool(draft: &mut Draft, name: &str) -> Result<(), String> {
    let pool = match draft.config.pool_called(name) {
        Some(pool) => pool,
        None if draft.pools_left_out > 0 => return Ok(()), // that there are too many is said once
        None => return Err(unknown(draft, name)),
    };
    if let Some(other) = draft.said().pool.filter(|said| *said != pool) {
        return Err(format!("this place has pool {} already: a request goes to one", draft.config.pool_name(other)));
    }
    draft.said().pool = Some(pool);
    Ok(())
}

fn unknown(draft: &Draft, name: &str) -> String {
    let known = |number: PoolNumber| draft.config.pool_name(number).to_owned();
    let known: Vec<String> = draft.config.pool_numbers().map(known).collect();
    format!("there is no <WorkerPool {name}>: define it outside of all sections, or name one of {}", known.join(", "))
}
