//! Application of the rules of a place to a request.

use super::Rewrite;
use super::outcome::{Rewritten, RuleInput};
use super::source::RuleSource;
use super::state::RuleRun;

/// Applies the rules.
pub fn run<S: RuleSource>(rewrite: &Rewrite, start: RuleInput, seen: &S) -> Rewritten {
    let is_subrequest = start.is_subrequest;
    let mut state = RuleRun::new(seen, rewrite, start);
    let (mut at, mut rounds) = (0, 0);
    while let Some(rule) = rewrite.rules.get(at) {
        at += 1;
        if state.is_stopped() {
            break;
        }
        // As in httpd, a look-ahead is not redirected.
        if is_subrequest && (rule.flags.no_subrequests || rule.flags.redirect.is_some()) {
            continue;
        }
        if !state.apply(rule) {
            let mut chained = rule.flags.chain;
            while let Some(next) = rewrite.rules.get(at).filter(|_| chained) {
                (chained, at) = (next.flags.chain, at + 1);
            }
            continue;
        }
        if state.is_over(&rule.flags) {
            break;
        }
        if let Some(most) = rule.flags.next {
            rounds += 1;
            at = 0;
            if rounds > most {
                state.fail();
                break;
            }
        }
        at += rule.flags.skip;
    }
    state.end()
}
