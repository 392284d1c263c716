//! The result of `bloat` as a table.

use std::fmt::Write;

use super::Measured;
use toolkit::units::size;

/// Formats a line for each expression, then the uses of match variables and, with `list`, all modules and files.
pub fn of(measured: &[Measured], list: bool) -> String {
    let mut text = "   private       heap   system calls   files   missed   modules  expression\n".to_owned();
    for one in measured {
        let traced = &one.traced;
        let expression = if one.expression.is_empty() { "(nothing)" } else { &one.expression };
        let _ = writeln!(
            text,
            "{:>10} {:>10} {:>14} {:>7} {:>8} {:>9}  {expression}",
            signed(traced.private()),
            signed(traced.heap()),
            traced.system_calls,
            traced.files.len(),
            traced.missed,
            one.found.modules.len(),
        );
    }
    measured.iter().for_each(|one| matches(one, &mut text));
    if list {
        measured.iter().for_each(|one| lists(one, &mut text));
    }
    text
}

fn signed(bytes: i64) -> String {
    let sign = if bytes < 0 { '-' } else { '+' };
    format!("{sign}{}", size(bytes.unsigned_abs()))
}

fn matches(measured: &Measured, text: &mut String) {
    let places = &measured.found.match_variables;
    if places.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{} uses match variables:", measured.expression);
    for place in places {
        let line = place.line.map_or_else(String::new, |line| format!(":{line}"));
        let _ = writeln!(text, "    {}  {}{line}", place.variable, place.file);
    }
    text.push_str("since perl 5.20 they cost little; before, they made each match of the whole program slower\n");
}

fn lists(measured: &Measured, text: &mut String) {
    let loaded: [(&str, Vec<&String>); 2] =
        [("modules", measured.found.modules.iter().collect()), ("files", measured.traced.files.iter().collect())];
    for (what, names) in loaded.iter().filter(|(_, names)| !names.is_empty()) {
        let _ = writeln!(text, "\n{what} of {}:", measured.expression);
        for name in names {
            let _ = writeln!(text, "    {name}");
        }
    }
}
