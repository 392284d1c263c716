//! Sizes as tables.

use std::fmt::Write;

use super::Measured;

/// Formats a table of subs for each subject. Several subjects are compared at the end.
pub fn of(measured: &[Measured]) -> String {
    let mut text = String::new();
    for one in measured {
        put(one, &mut text);
        text.push('\n');
    }
    match measured {
        [_] => text.truncate(text.trim_end().len() + 1),
        _ => text.push_str(&compared(measured)),
    }
    text
}

fn put(measured: &Measured, text: &mut String) {
    let Measured { name, package, bytes, ops, names, subs } = measured;
    let _ = writeln!(text, "{}", if name == package { name.clone() } else { format!("{name}  ({package})") });
    let _ = writeln!(text, "     bytes     ops  sub");
    for sub in subs {
        let of = sub.of.as_ref().map_or_else(String::new, |of| format!("  only the name of {of}"));
        let _ = writeln!(text, "{:10} {:7}  {}{of}", sub.bytes, sub.ops, sub.name);
    }
    let _ = writeln!(text, "{bytes:10} {ops:7}  in total, {names} of these bytes for names only");
}

fn compared(measured: &[Measured]) -> String {
    let mut text = "     bytes     ops  subs  names\n".to_owned();
    for one in measured {
        let names = one.subs.iter().filter(|sub| sub.of.is_some()).count();
        let own = one.subs.len() - names;
        let _ = writeln!(text, "{:10} {:7} {own:5} {names:6}  {}", one.bytes, one.ops, one.name);
    }
    text
}
