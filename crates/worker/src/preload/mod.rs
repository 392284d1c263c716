//! `PerlPreload auto`: the mold loads code that workers of earlier molds loaded after the fork, so that its workers
//! share it. A child of the mold tries the code first: code that fails, or changes its process in another way than by
//! subs and variables, is left out.

mod scripts;
mod trial;

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use wire::control::{LateCode, LeftOutCode, PreloadOrder};

use super::site::Site;
use base::{log, printable};
use trial::{PieceVerdict, TrialKind};

/// Maximum time for one piece of code in a trial.
const MAX_LOAD: Duration = Duration::from_secs(5);
/// Maximum number of trials: each but the last ones leaves out one piece more.
const MAX_TRIALS: usize = 40;
/// Maximum number of names in a line of the log.
const MAX_NAMES: usize = 10;
/// Maximum length of a reason in bytes.
const MAX_WHY: usize = 200;

/// A module or a script.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    /// `module` or `script`, for Perl.
    kind: &'static str,
    name: String,
    file: String,
}

impl Piece {
    fn fields(&self) -> [&str; 3] {
        [self.kind, &self.name, &self.file]
    }

    /// A piece that died may do so for want of other code, so it is tried at each start.
    fn failed(&self, why: &str) -> LeftOutCode {
        LeftOutCode { changed: 0, ..self.left_out(why) }
    }

    fn left_out(&self, why: &str) -> LeftOutCode {
        let why = printable::line(why.trim_end());
        let end = (0..=MAX_WHY.min(why.len())).rev().find(|at| why.is_char_boundary(*at)).unwrap_or(0);
        let changed = changed(&self.file);
        LeftOutCode {
            name: self.name.clone(),
            file: self.file.clone(),
            changed,
            why: why.get(..end).unwrap_or("").into(),
        }
    }
}

/// Modification time of a file in nanoseconds; 0 if it cannot be read.
fn changed(file: &str) -> i64 {
    fs::metadata(file).map_or(0, |about| about.mtime().saturating_mul(1_000_000_000).saturating_add(about.mtime_nsec()))
}

/// Loads the code that is safe, within a third of the time until `by`. Returns the code that is left out, be the search
/// complete or not: so the next start has less to try.
pub fn load(site: &Site, order: PreloadOrder, by: Instant) -> Vec<LeftOutCode> {
    let PreloadOrder { code, left_out: mut known } = order;
    let logged = known.clone();
    known.retain(|one| one.changed != 0 && changed(&one.file) == one.changed);
    let is_known = |piece: &Piece| known.iter().any(|one| one.name == piece.name && one.file == piece.file);
    let wanted: Vec<Piece> = pieces(site, code).into_iter().filter(|piece| !is_known(piece)).collect();
    if wanted.is_empty() {
        return known;
    }
    let until = Instant::now() + by.saturating_duration_since(Instant::now()) / 3;
    match select(site, wanted, until) {
        Ok(Selection { safe, left_out, limit }) => {
            load_safe(site, &safe);
            let is_new = |one: &&LeftOutCode| !logged.contains(one);
            log_left_out(&left_out.iter().filter(is_new).collect::<Vec<_>>());
            known.extend(left_out);
            if let Some(limit) = limit {
                let line = format_args!(
                    "PerlPreload: trials of the code that earlier workers had loaded {limit}; none of it is loaded, \
                     and the next start continues"
                );
                log::warn("perl", line);
            }
        }
        Err(error) => log::error(
            "perl",
            format_args!(
                "PerlPreload: code that earlier workers had loaded cannot be tried: {error}; none of it is loaded"
            ),
        ),
    }
    known
}

/// The pieces in the order in which they are loaded. A module comes before those below its name, which it may load
/// itself; some of them cannot be loaded alone.
fn pieces(site: &Site, code: LateCode) -> Vec<Piece> {
    let LateCode { mut modules, scripts } = code;
    modules.sort_by_cached_key(|(name, _)| (name.matches('/').count(), name.clone()));
    let modules = modules.into_iter().map(|(name, file)| Piece { kind: "module", name, file });
    let scripts = scripts.into_iter().filter(|(key, file)| scripts::is_configured(site, key, file));
    let scripts = scripts.map(|(name, file)| Piece { kind: "script", name, file });
    let is_fit = |piece: &Piece| {
        let is_there = piece.file.starts_with('/') && changed(&piece.file) != 0;
        is_there && piece.fields().iter().all(|field| !field.contains('\0'))
    };
    modules.chain(scripts).filter(is_fit).collect()
}

struct Selection {
    safe: Vec<Piece>,
    left_out: Vec<LeftOutCode>,
    /// The limit that ended the search; no code is safe then.
    limit: Option<String>,
}

/// Finds the pieces that are safe together. Code that was left out may have loaded other code, so what remains is tried
/// again.
fn select(site: &Site, mut safe: Vec<Piece>, until: Instant) -> io::Result<Selection> {
    let (mut left_out, mut kind) = (Vec::new(), TrialKind::Effects);
    let stopped = |left_out, limit| Ok(Selection { safe: Vec::new(), left_out, limit: Some(limit) });
    for _ in 0..MAX_TRIALS {
        let trial = trial::of(&site.perl, &safe, kind, until)?;
        let is_settled = trial.is_complete && !trial.verdicts.iter().any(|it| matches!(it, PieceVerdict::Unsafe(_)));
        let mut verdicts = trial.verdicts.into_iter();
        for piece in std::mem::take(&mut safe) {
            match verdicts.next() {
                Some(PieceVerdict::Unsafe(why)) => left_out.push(piece.left_out(&why)),
                Some(PieceVerdict::Died(why)) if is_settled => left_out.push(piece.failed(&why)),
                // The piece that has loaded it is safe, and loads it in the mold, too.
                Some(PieceVerdict::Brought) if is_settled => {}
                _ => safe.push(piece),
            }
        }
        kind = match kind {
            _ if trial.is_late => return stopped(left_out, "take longer than a third of StartTimeout".to_owned()),
            _ if safe.is_empty() => return Ok(Selection { safe, left_out, limit: None }),
            TrialKind::Effects if is_settled && trial.reads_pid => TrialKind::StoredPids,
            _ if is_settled => return Ok(Selection { safe, left_out, limit: None }),
            _ => TrialKind::Effects,
        };
    }
    stopped(left_out, format!("end after {MAX_TRIALS}"))
}

fn load_safe(site: &Site, safe: &[Piece]) {
    let fields: Vec<&str> = safe.iter().flat_map(Piece::fields).collect();
    if fields.is_empty() {
        return;
    }
    match site.perl.call_for_text(c"Cameleer::Preload::load", &fields.join("\0")) {
        Ok(answer) => {
            let (count, bytes) = answer.split_once(' ').unwrap_or((&answer, "0"));
            let megabytes = bytes.parse().unwrap_or(0.0_f64) / f64::from(1 << 20);
            let line = format_args!(
                "PerlPreload: loaded {count} modules and scripts that earlier workers had loaded: \
                 {megabytes:.1} MB, which workers share instead of each having its own"
            );
            log::notice("perl", line);
        }
        Err(error) => log::error(
            "perl",
            format_args!("PerlPreload: cannot load the code that earlier workers had loaded: {error}"),
        ),
    }
}

fn log_left_out(left_out: &[&LeftOutCode]) {
    if left_out.is_empty() {
        return;
    }
    let shown = left_out.iter().take(MAX_NAMES).map(|one| format!("{} ({})", printable::line(&one.name), one.why));
    let more = match left_out.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        count => format!(", and {count} more"),
    };
    let line = format_args!("PerlPreload: left out: {}{more}", shown.collect::<Vec<_>>().join(", "));
    log::notice("perl", line);
}
