//! Error messages for names that are not in the table.

use crate::table::httpd_only::mark;
use crate::table::{self, foreign_modules};

/// Error message for an unknown name. It suggests a similar name while `guesses`, which bounds the cost, is above 0.
pub fn message(name: &str, guesses: &mut u32) -> String {
    if let Some(module) = foreign_modules::of_directive(name) {
        let advice = foreign_modules::nearest(name).unwrap_or(module.advice);
        return format!("is not supported: {} is not part of Cameleer{} {advice}", module.name, mark(advice));
    }
    let may_guess = *guesses > 0;
    *guesses = guesses.saturating_sub(1);
    let meant = if may_guess { nearest(name) } else { None };
    match meant {
        Some(near) => format!("is not a directive: did you mean {near}?"),
        None => "is not a directive: `cameleer check --directives` lists all directives".to_owned(),
    }
}

fn nearest(name: &str) -> Option<&'static str> {
    // A typo changes at most a third of the name; more is another name.
    let is_slip = |distance: usize| distance * 3 <= name.len();
    let near = |known: &&str| is_slip(known.len().abs_diff(name.len()));
    let distances = table::names().filter(near).map(|known| (distance(name, known), known));
    let (distance, near) = distances.min_by_key(|(distance, _)| *distance)?;
    is_slip(distance).then_some(near)
}

/// Levenshtein distance, ignoring ASCII case.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_ascii_lowercase().into_bytes(), b.to_ascii_lowercase().into_bytes());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let best = (row[j] + 1).min(row[j + 1] + 1).min(diagonal + usize::from(x != y));
            diagonal = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use nix::time::{ClockId, clock_gettime};

    use super::*;
    use crate::parse::{self, ParserSource};
    use crate::{Config, Facts};

    #[test]
    fn a_typo_yields_the_name_of_the_nearest_directive() {
        assert_eq!(nearest("DocumentRot"), Some("DocumentRoot"));
        assert_eq!(nearest("perlsetvat"), Some("PerlSetVar"));
        assert_eq!(nearest("MaxWorkers"), None);
    }

    #[test]
    fn a_directive_of_a_module_in_c_names_the_module_and_what_to_use() {
        let advice = message("DOSPageCount", &mut 1);
        assert!(
            advice.starts_with("is not supported: mod_evasive is not part of Cameleer; write SpeedLimit "),
            "{advice}"
        );
        assert!(message("WSGIScriptAlias", &mut 1).contains("mod_wsgi"));
    }

    /// CPU time of this thread to parse 5,000 copies of `line`. The minimum of ten runs excludes most disturbance.
    fn cost(line: &str) -> Duration {
        let text = format!("Listen 80\n{}", line.repeat(5000));
        let source = ParserSource::disk("/srv", &|_| None);
        let run = |_| {
            let start = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every thread has this clock");
            let tree = parse::text(&text, "site.conf", &source).expect("lines");
            drop(Config::understand(&tree, &Facts::default()));
            let end = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every thread has this clock");
            Duration::from(end) - Duration::from(start)
        };
        (0..10).map(run).min().expect("ten runs")
    }

    #[test]
    fn an_unknown_name_costs_less_than_eight_times_a_known_one() {
        let known = cost("SetEnv CAMEL hump\n");
        for line in ["rrr x\n", "a\x02\x02 b\n", "P ${HO PSGI appliME}\n", "DocumentRot /srv/www\n", "RewriteRul a b\n"]
        {
            let unknown = cost(line);
            assert!(unknown < 8 * known, "{line:?}: {unknown:?}, known: {known:?}");
        }
    }
}
