//! The rule about a refork: the figure is the master's, and workers have reported what it consists of.

use super::evidence::AdviceEvidence;
use super::sentence::{Advice, advice};
use super::shared::{NAMED, ReforkEvidence};
use toolkit::units::size;

/// Proposes `Refork auto` where it would save much.
pub fn refork(evidence: &AdviceEvidence) -> Option<Advice> {
    let saved = evidence.last.memory.refork_saves?;
    let ReforkEvidence { paths, code } = &evidence.refork;
    let mut seen = format!("a refork would save about {}", size(saved));
    if !paths.is_empty() {
        let paths: Vec<String> = paths.iter().map(|(path, grown)| format!("{path} ({})", size(*grown))).collect();
        seen.push_str(&format!("; most memory is from requests for {}", paths.join(", ")));
    }
    if !code.is_empty() {
        let named: Vec<&str> = code.iter().take(NAMED).map(String::as_str).collect();
        let more = match code.len().saturating_sub(NAMED) {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        seen.push_str(&format!("; code that was loaded after the fork: {}{more}", named.join(", ")));
    }
    let sentence = "Workers have for themselves what they could share after a refork. Read docs/operating/refork.md first: \
                    variables of one worker then become those of all";
    Some(advice("refork", sentence, seen, Some("Refork auto".to_owned())))
}

#[cfg(test)]
mod tests {
    use super::super::evidence::tests::evidence;
    use super::*;

    #[test]
    fn the_advice_names_the_figure_the_paths_and_the_code() {
        let quiet = evidence(|_, _| ());
        assert_eq!(refork(&quiet), None);
        let code = ["CGI", "DBI", "/perl/one.pl", "POSIX"].map(str::to_owned).to_vec();
        let paths = vec![("/app".to_owned(), 12 << 20)];
        let much = evidence(|status, _| status.memory.refork_saves = Some(84 << 20));
        let much = AdviceEvidence { refork: ReforkEvidence { paths, code }, ..much };
        let given = refork(&much).expect("advice");
        assert_eq!(
            given.evidence,
            "a refork would save about 84.0 MB; most memory is from requests for /app (12.0 MB); \
             code that was loaded after the fork: CGI, DBI, /perl/one.pl and 1 more"
        );
        assert_eq!(given.change.as_deref(), Some("Refork auto"));
    }
}
