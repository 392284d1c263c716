//! Perl's command line switches, and directives of mod_perl 1 without effect here.

use crate::draft::Draft;
use crate::model::context::SectionContext;
use crate::model::pools::DEFAULT;
use crate::model::server::PerlSwitches;
use crate::model::start_up::StartUpStep;
use crate::table::row::{ANYWHERE, Contexts, Effect, HOSTS, Row, SERVER, flag, rows, words};

/// As in mod_perl 1, virtual hosts may have the switches.
const PLACES: Contexts = HOSTS.and_pools();

pub static ROWS: &[Row] = rows![
    "mod_perl.c",
    flag("PerlTaintCheck", PLACES, |d, on| switch(d, on, |perl, on| perl.taint_check = on)).effect(Effect::Generation).default("Off", "perl's default"),
    "Perl's -T: data from clients must be matched before it may reach a shell, a file name or the %ENV of programs. On in \
     a virtual host holds for all hosts with the same workers.",
    flag("PerlWarn", PLACES, |d, on| switch(d, on, |perl, on| perl.warn = on)).effect(Effect::Generation).default("Off", "perl's default"),
    "Perl's -w: warnings in all code that does not disable them, in the error log. On in a virtual host holds for \
     all hosts with the same workers.",
    flag("PerlFreshRestart", SERVER, |_, _| {}).effect(Effect::Start).default("On", "a reload always starts a new perl"),
    "Accepted and ignored: every reload loads all code again, in new processes.",
    words("PerlOpmask", ANYWHERE, "file", 1..=1, |_, _| {
            Err("operator masks are not supported, because they never confined hostile code; run code that you do not trust as another user \
                in another server, and remove this line"
                .to_owned())
        }).of("cameleer.c").effect(Effect::Start).because("not supported"),
    "Refused with an explanation: perl's operator masks do not confine hostile code.",
];

/// Sets a switch of perl. Hosts without workers of their own share one perl, and can only turn it on.
fn switch(draft: &mut Draft, on: bool, set: fn(&mut PerlSwitches, bool)) {
    let is_shared = draft.position.context == SectionContext::VirtualHost && draft.position.pool == DEFAULT;
    if is_shared {
        let effect = if on { "holds for all hosts with the same workers" } else { "has no effect" };
        draft.warn(&format!("{effect}, because hosts share one perl; write it outside of <VirtualHost>"));
    }
    if on || !is_shared {
        set(draft.perl(), on);
    }
}

/// `PerlSwitches -wT -Ilib -MName=words`. The main server's switches also apply to pools of hosts with
/// `PerlOptions +InheritSwitches`.
pub fn perl_switches(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    all_words(draft, words)?;
    if draft.position.context != SectionContext::Server {
        return Ok(());
    }
    let own = draft.position.pool;
    for pool in draft.inherit_switches.clone() {
        draft.position.pool = pool;
        let taken = all_words(draft, words);
        draft.position.pool = own;
        taken?;
    }
    Ok(())
}

fn all_words(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word.eq_ignore_ascii_case("+inherit") {
            continue; // a worker has one interpreter
        }
        let switches = word.strip_prefix('-').ok_or_else(|| format!("expected a switch like -w, got \"{word}\""))?;
        one_word(draft, switches, &mut words)?;
    }
    Ok(())
}

/// Applies the letters of one word. A letter with a value takes the rest of the word, or else the next word.
fn one_word<'a>(draft: &mut Draft, switches: &str, next: &mut impl Iterator<Item = &'a String>) -> Result<(), String> {
    for (at, letter) in switches.char_indices() {
        match letter {
            'w' | 'W' => draft.perl().warn = true,
            'X' => draft.perl().warn = false,
            'T' | 't' => draft.perl().taint_check = true,
            'I' | 'M' | 'm' => {
                let rest = &switches[at + 1..];
                let value = if rest.is_empty() { next.next().map_or("", String::as_str) } else { rest };
                return with_value(draft, letter, value);
            }
            _ => {
                return Err(format!("-{letter} has no meaning in a server: expected -w, -W, -X, -T, -t, -I, -M or -m"));
            }
        }
    }
    Ok(())
}

fn with_value(draft: &mut Draft, letter: char, value: &str) -> Result<(), String> {
    if value.is_empty() {
        return Err(format!("-{letter} needs a value; write it after the switch"));
    }
    if letter == 'I' {
        let folder = draft.path(value);
        draft.start_up(StartUpStep::Lib(folder));
        return Ok(());
    }
    let (word, value) = match value.strip_prefix('-') {
        Some(rest) => ("no", rest),
        None => ("use", value),
    };
    let code = match (letter, value.split_once('=')) {
        (_, Some((module, list))) => format!("{word} {module} split(/,/, q\0{list}\0);"),
        ('m', None) => format!("{word} {value} ();"),
        (_, None) => format!("{word} {value};"),
    };
    draft.start_up(StartUpStep::Eval(code));
    Ok(())
}
