//! `RewriteRule` and its kin.

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use crate::config::draft::Draft;
use crate::config::model::context::{Context, Scope};
use crate::config::model::overrides::Class;
use crate::config::model::response::rewrite::{Condition, Inherit, Map, Maps, Rewrite, Rule};
use crate::config::table::row::{ANYWHERE, CONTAINERS, HOSTS, MANY, ROW, Row, Takes};
use crate::path::Text;

pub static ROWS: &[Row] = &[
    Row {
        name: "RewriteEngine",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Flag(|d, on| said(d).engine = Some(on)),
        default: Some("Off"),
        because: "as in httpd: rules do nothing until somebody says so",
        about: "Whether the RewriteRules of this place are followed. A virtual host takes it from the main server, but none of its rules.",
        ..ROW
    },
    Row {
        name: "RewriteRule",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("[!]regex path|URL|- [flags]", 2..=3, rule),
        because: "everything is where it is asked for",
        about: "Another path for those in which the regular expression is found: `$1` is what its first group found, `%1` that of the last \
            RewriteCond, %{NAME} what is known of the request, ${map:key|default} of a RewriteMap. A host's rules see the decoded path, \
            before Redirect and Alias, and lead to a file below DocumentRoot (`/x`), to one of the disk (a rule that begins with \
            `/srv/x` or %{DOCUMENT_ROOT}, where /srv is there), with PT to a path for Alias and Location sections. Those of folders and .htaccess files see what the file's name has behind their \
            folder, and their path is asked for anew, ten times at most. A URL sends the client there. Flags: B, BCTLS, BNE, BNP, C, CO, \
            DPI, E, END, F, G, L, N (250 rounds at most), NC, NE, NS, PT, QSA, QSD, QSL, R, S; not H, P and T. Headers that conditions look at stand in \
            the answer's Vary. Regular expressions are those of RedirectMatch: \
            without look-around and back-references, for which a RewriteCond with `!` stands in. Subrequests of programs follow no rules.",
        ..ROW
    },
    Row {
        name: "RewriteCond",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("text|expr [!]regex|=text|<text|>text|-eq number|-f|-d|-s|-l|-x [flags]", 2..=3, condition),
        because: "a rule holds for all requests whose path it matches",
        about: "What must be so for the next RewriteRule; of several all, or with the flag OR one. The text is filled in as a rule's path; \
            NC takes letters of either case. %{LA-U:…}, -F and -U, which would ask for another path first, are not known.",
        ..ROW
    },
    Row {
        name: "RewriteBase",
        contexts: CONTAINERS.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("/url-path", base),
        because: "the path below DocumentRoot, or else the one that led to the folder",
        about: "What the folder of the rules is called in paths: a rule's path without a slash at its beginning is one below it.",
        ..ROW
    },
    Row {
        name: "RewriteOptions",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("Inherit|InheritBefore|MergeBase…", 1..=MANY, options),
        because: "as in httpd: a place that says anything about rewriting begins anew",
        about: "Inherit: the rules of the outer place follow this one's own, InheritBefore: they come first; MergeBase: its RewriteBase holds, too.",
        ..ROW
    },
    Row {
        name: "RewriteMap",
        contexts: HOSTS,
        takes: Takes::Words("name txt:file|rnd:file|int:tolower|int:toupper|int:escape|int:unescape", 2..=MANY, map),
        because: "rules know only what the request says",
        about: "A name for a file of keys and values, a line each (rnd: one of several with `|` between them), or for a function; rules below it in this host \
            use it as ${name:key|default}, those of .htaccess files and of other hosts when it is the main server's. The file is read with the configuration: \
            what changes in it counts after a reload.",
        ..ROW
    },
];

/// Of the place at work.
fn said(draft: &mut Draft) -> &mut Rewrite {
    let folder = folder(draft);
    let rewrite = match draft.is_in_container() {
        true => &mut draft.said().response.rewrite,
        false => &mut draft.host().rewrite,
    };
    (rewrite.said, rewrite.folder) = (true, folder);
    rewrite
}

/// The folder at work, with a slash at its end.
fn folder(draft: &Draft) -> Option<Arc<str>> {
    let section = draft.config.sections.get(usize::from(draft.position.section))?;
    match (draft.position.context, &section.scope) {
        (Context::Directory | Context::Htaccess, Scope::Directory(folder)) => {
            let folder = Text::new(folder.as_os_str().as_bytes()).0;
            Some(format!("{}/", folder.trim_end_matches('/')).into())
        }
        (Context::Location, Scope::Location(path)) => Some(format!("{}/", path.trim_end_matches('/')).into()),
        _ => None,
    }
}

/// Those of the main server, and of the host at work.
fn maps(draft: &mut Draft) -> Maps {
    let main = draft.config.hosts.first().map(|main| main.maps.clone()).unwrap_or_default();
    main.and(&draft.host().maps)
}

/// `RewriteRule Pattern Substitution [flags]`
fn rule(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    draft.is_looked_at_always()?;
    let [pattern, to, flags @ ..] = args else { return Ok(()) };
    let maps = maps(draft);
    let conditions = std::mem::take(&mut said(draft).pending);
    let flags = flags.first().map_or("", String::as_str);
    let rule = Rule::parse(pattern, to, flags, conditions, &maps, &mut draft.patterns)?;
    said(draft).rules.push(Arc::new(rule));
    Ok(())
}

/// `RewriteCond TestString CondPattern [flags]`
fn condition(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    draft.is_looked_at_always()?;
    let [text, pattern, flags @ ..] = args else { return Ok(()) };
    let maps = maps(draft);
    let flags = flags.first().map_or("", String::as_str);
    let condition = Condition::parse(text, pattern, flags, &maps, &mut draft.patterns)?;
    said(draft).pending.push(condition);
    Ok(())
}

/// `RewriteBase /path`
fn base(draft: &mut Draft, path: &str) -> Result<(), String> {
    if !path.starts_with('/') {
        return Err(format!("expected a path that begins with /, got \"{path}\""));
    }
    said(draft).base = Some(format!("{}/", path.trim_end_matches('/')));
    Ok(())
}

/// `RewriteOptions word…`
fn options(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    for word in words {
        let options = &mut said(draft).options;
        match word.to_ascii_lowercase().as_str() {
            "inherit" => options.inherit = Some(Inherit::Behind),
            "inheritbefore" => options.inherit = Some(Inherit::Before),
            "mergebase" => options.merge_base = true,
            "allownoslash"
            | "allowanyuri"
            | "inheritdown"
            | "inheritdownbefore"
            | "ignoreinherit"
            | "legacyprefixdocroot"
            | "longurloptimization" => draft.warn(&format!("{word} changes nothing here")),
            _ => return Err(format!("expected Inherit, InheritBefore or MergeBase, got \"{word}\"")),
        }
    }
    Ok(())
}

/// `RewriteMap name source`; the lines of its file follow.
fn map(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [name, source, lines @ ..] = args else { return Ok(()) };
    let map = Map::parse(source, |_| Ok(lines.join("\n")))?;
    let host = draft.host();
    host.maps = std::mem::take(&mut host.maps).with(name, map);
    Ok(())
}
