//! Lines that are judged by the old configuration alone: paths, modules, the numbers of processes.

use std::collections::HashMap;

use config::{At, Directive};

use super::access;
use super::definitions;
use super::forwarded;
use super::includes;
use super::ledger::{Ledger, LineVerdict};
use super::macros::{self, MacroLines};
use super::modules;
use crate::read::{OldSite, is_ours};
use crate::write::{Copies, Layout, LineEdit};

pub fn before(site: &OldSite, layout: &Layout, copies: &Copies, ledger: &mut Ledger) {
    converted(site, ledger);
    includes::judge(site, layout, copies, ledger);
    for passed in site.passed.iter().filter(|passed| passed.name == "IfModule") {
        condition(passed, site, copies, ledger);
    }
    macros::conditions(site, layout, copies, ledger).iter().for_each(|passed| condition(passed, site, copies, ledger));
    definitions::judge(site, copies, ledger);
    let mut judge = Lines { site, copies, ledger, decided: Vec::new() };
    MacroLines::of(copies, &site.tree).all().for_each(|line| judge.line(&line.directive, &line.around));
    let mut places = HashMap::new();
    find_places(&site.tree, &mut Vec::new(), &mut places);
    judge.read(&site.tree, &places);
}

/// The sections around each line, in lower case; several for a line of a file that is included several times.
fn find_places<'a>(tree: &'a [Directive], around: &mut Vec<String>, places: &mut HashMap<&'a At, Vec<Vec<String>>>) {
    for directive in tree {
        places.entry(&directive.at).or_default().push(around.clone());
        if let Some(inside) = &directive.section {
            around.push(directive.name.to_ascii_lowercase());
            find_places(inside, around, places);
            around.pop();
        }
    }
}

fn converted(site: &OldSite, ledger: &mut Ledger) {
    for file in site.files.iter().filter(|file| file.is_converted) {
        let at = At { file: file.path.to_string_lossy().into(), line: 0 };
        let sentence = "the file was Latin-1, its copy is UTF-8; check names of files with umlauts";
        ledger.add(LineVerdict { edit: None, ..LineVerdict::changed(&at, sentence, LineEdit::Note) });
    }
}

/// `<IfModule>` applies as it did on the old server.
fn condition(passed: &Directive, site: &OldSite, copies: &Copies, ledger: &mut Ledger) {
    let [condition] = passed.args.as_slice() else { return };
    let (name, is_negated) = match condition.strip_prefix('!') {
        Some(name) => (name, true),
        None => (condition.as_str(), false),
    };
    let (was, is) = (site.modules.has(name) != is_negated, is_ours(name) != is_negated);
    let what = format!("<IfModule {condition}>");
    let (sentence, edit) = match (was, is) {
        (true, false) => {
            (format!("{what}: applied to the old server, so its lines are judged one by one"), LineEdit::Unwrap)
        }
        (false, true) => (format!("{what}: did not apply to the old server"), LineEdit::CommentSection),
        (false, false) if !is_negated && !site.modules.is_complete => {
            (format!("{what}: has no effect: the module is not part of Cameleer"), LineEdit::Note)
        }
        _ => return,
    };
    let at = copies.old(&passed.at);
    let restricts = copies.find(&at.file).is_some_and(|copy| copy.outline.has_mark_inside(at.line));
    match edit {
        // Only the modules of LoadModule lines are known for sure.
        LineEdit::CommentSection | LineEdit::Note if restricts => {
            let sentence =
                format!("{sentence}; its lines restrict visitors; find out whether its module was compiled in");
            ledger.add(LineVerdict::open(&at, sentence, Some(edit)));
        }
        edit => ledger.add(LineVerdict::changed(&at, sentence, edit)),
    }
}

struct Lines<'a> {
    site: &'a OldSite,
    copies: &'a Copies,
    ledger: &'a mut Ledger,
    /// Modules about which a decision is in the ledger.
    decided: Vec<&'static str>,
}

impl Lines<'_> {
    /// Judges the directives of a section, each by all the places where it applied.
    fn read(&mut self, tree: &[Directive], places: &HashMap<&At, Vec<Vec<String>>>) {
        for directive in tree.iter().filter(|directive| !macros::is_use(&directive.at, self.copies)) {
            let around = places.get(&directive.at).map_or(&[][..], Vec::as_slice);
            self.line(directive, &access::united(around).0);
            if let Some(inside) = &directive.section {
                self.read(inside, places);
            }
        }
    }

    fn line(&mut self, directive: &Directive, around: &[String]) {
        let verdict = match directive.name.to_ascii_lowercase().as_str() {
            "loadmodule" => modules::loaded(directive, &mut self.decided),
            "pidfile" => Some(changed(directive, "systemd and the control socket need none")),
            "bindaddress" => self.bound(directive),
            "addtype" | "forcetype" => self.php_type(directive, around),
            "maxclients" | "maxrequestworkers" | "startservers" | "serverlimit" if self.has_threads() => Some(changed(
                directive,
                "counted threads; here MaxClients counts processes of Perl, 256 unless it is set",
            )),
            _ => forwarded::line(directive, &self.site.tree)
                .or_else(|| modules::own_directive(directive, around, &mut self.decided)),
        };
        if let Some(verdict) = verdict {
            let at = verdict.at.map(|at| self.copies.old(&at));
            self.ledger.add(LineVerdict { at, ..verdict });
        }
    }

    fn has_threads(&self) -> bool {
        ["mpm_event_module", "mpm_worker_module"].iter().any(|module| self.site.modules.loads(module))
    }

    /// `BindAddress 192.0.2.1` and `Port 80` of Apache 1.3.
    fn bound(&self, directive: &Directive) -> Option<LineVerdict> {
        let address = directive.args.first().filter(|address| *address != "*")?;
        let find = |name: &str| self.site.tree.iter().rfind(|other| other.name.eq_ignore_ascii_case(name));
        if find("Listen").is_some() {
            return Some(changed(directive, "the Listen lines name all addresses"));
        }
        let port = find("Port").and_then(|port| port.args.first()).map_or("80", String::as_str);
        let listen = format!("Listen {address}:{port}");
        let edit = LineEdit::Replace(vec![listen.clone()]);
        Some(LineVerdict::changed(&directive.at, format!("BindAddress: is {listen} now"), edit))
    }

    /// A type that mod_php took as its handler. Without it the sources of the programs would be sent.
    fn php_type(&self, directive: &Directive, around: &[String]) -> Option<LineVerdict> {
        let (kind, endings) = directive.args.split_first().filter(|_| sends_php(directive))?;
        if has_action(&self.site.tree, kind) {
            return None;
        }
        let what = if endings.is_empty() { "its place".to_owned() } else { endings.join(" ") };
        let sentence = format!(
            "{}: PHP is not part of Cameleer, so {what} is refused; run PHP-FPM and write \
             SetHandler \"proxy:unix:/run/php/php-fpm.sock|fcgi://localhost\" there",
            directive.name
        );
        let edit = LineEdit::Replace(access::without_files(endings, around));
        Some(LineVerdict::open(&directive.at, sentence, Some(edit)))
    }
}

/// Whether the line gives files the type that mod_php takes as its handler.
pub fn sends_php(directive: &Directive) -> bool {
    let is_type = ["AddType", "ForceType"].iter().any(|name| directive.name.eq_ignore_ascii_case(name));
    is_type && directive.args.first().is_some_and(|kind| kind.contains("x-httpd-php"))
}

/// Whether an `Action` names the type.
fn has_action(tree: &[Directive], kind: &str) -> bool {
    tree.iter().any(|directive| {
        directive.name.eq_ignore_ascii_case("Action") && directive.args.first().is_some_and(|arg| arg == kind)
            || has_action(directive.section.as_deref().unwrap_or_default(), kind)
    })
}

fn changed(directive: &Directive, why: &str) -> LineVerdict {
    LineVerdict::changed(&directive.at, format!("{}: {why}", directive.name), LineEdit::Comment)
}
