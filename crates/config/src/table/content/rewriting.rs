//! mod_rewrite's directives.

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use crate::draft::Draft;
use crate::model::context::{Scope, SectionContext};
use crate::model::overrides::Class;
use crate::model::response::rewrite::{Condition, Map, MapSource, Maps, Rewrite, Rule};
use crate::syntax::source::{Splitting, ValueFile};
use crate::table::row::{ANYWHERE, CONTAINERS, HOSTS, MANY, Row, flag, rows, word, words};
use base::path::Text;

pub static ROWS: &[Row] = rows![
    "mod_rewrite.c",
    flag("RewriteEngine", ANYWHERE.and_htaccess(Class::FILE_INFO), |d, on| rewrite(d).engine = Some(on))
        .default("Off", "as in httpd: rules have no effect until they are turned on"),
    "Whether the RewriteRules of this place apply. A virtual host inherits this setting from the main server, but none of its rules.",
    words("RewriteRule", ANYWHERE.and_htaccess(Class::FILE_INFO), "[!]regex path|URL|- [flags]", 2..=MANY, rule)
        .split(Splitting::Rule)
        .because("paths are not rewritten by default"),
    "Replaces paths that match the regular expression anywhere: `$1` is the text of its first group, `%1` that of the last \
            RewriteCond, %{NAME} a variable of the request, ${map:key|default} a lookup in a RewriteMap. Rules of a host see the decoded path, \
            before Redirect and Alias. Their result is a file below DocumentRoot (`/x`), or with PT a path for Alias and Location sections. A rule that begins with \
            `/srv/x` (if /srv exists) or %{DOCUMENT_ROOT} names a file by its full path. Rules of folders and .htaccess files see the part of the file name after their \
            folder, and the rewritten path is processed again, ten times at most. A URL redirects the client. Flags: B, BCTLS, BNE, BNP, C, CO, \
            DPI, E, END, F, G, H, L, N (250 rounds at most), NC, NE, NS, PT, QSA, QSD, QSL, R, S, T, UnsafeAllow3F, UnsafePrefixStat; not P. In `<If>`, rules see the whole file name. Headers \
            that conditions test are added to Vary. `LogLevel rewrite:trace3` logs what each rule does, and `cameleer explain` shows it. Subrequests of \
            programs are not rewritten.",
    words(
        "RewriteCond",
        ANYWHERE.and_htaccess(Class::FILE_INFO),
        "text|expr [!]regex|=text|<text|>text|-eq number|-f|-d|-s|-l|-x|-F|-U [flags]",
        2..=MANY,
        condition
    )
    .split(Splitting::Rule)
    .because("a rule applies to all requests whose path it matches"),
    "A condition of the next RewriteRule. All conditions must hold, or with the flag OR one of them. Variables in the text are expanded as in a rule; \
            NC ignores case, NV keeps its headers out of Vary. -U holds if a request for the path would be allowed, -F if its file exists \
            as well; %{LA-U:REMOTE_USER} is the user of such a request for the current path.",
    word("RewriteBase", CONTAINERS.and_htaccess(Class::FILE_INFO), "/url-path", base)
        .because("the path below DocumentRoot, or else the path that led to the folder"),
    "URL path of the folder of the rules. Rule results that do not begin with a slash are relative to it.",
    words(
        "RewriteOptions",
        ANYWHERE.and_htaccess(Class::FILE_INFO),
        "Inherit|InheritBefore|InheritDown|InheritDownBefore|IgnoreInherit|MergeBase|AllowNoSlash|AllowAnyURI…",
        1..=MANY,
        options
    )
    .because("as in httpd: a place with rewrite directives of its own does not inherit"),
    "Inherit: the rules of the outer place are applied after those of this place, InheritBefore: before them. InheritDown and InheritDownBefore \
            do the same for all inner places, except those with IgnoreInherit. MergeBase: the outer RewriteBase applies, too. AllowNoSlash: rules of a folder \
            apply to its path without the trailing slash. AllowAnyURI: rules of a host apply to requests for `*`. IgnoreContextInfo: a relative result is not \
            put below the path of an Alias. LegacyPrefixDocRoot: a result written as a URL of this server may be a path of the disk. LongURLOptimization is \
            accepted, and needs no effect here.",
    words(
        "RewriteMap",
        HOSTS,
        "name txt:file|rnd:file|dbm:file|int:tolower|int:toupper|int:escape|int:unescape|prg:program|dbd:query|fastdbd:query",
        2..=MANY,
        map
    )
    .file_of_values(ValueFile::Map)
    .because("rules know only the request"),
    "Names a file of keys and values, one pair per line (rnd: one of several values separated by `|`), a function, or a program. Rules below it in \
            this host use it as ${name:key|default}; maps of the main server are available in .htaccess files and other hosts, too. The file is read with the \
            configuration: changes take effect at a reload. The program is started by each thread of the front when a rule first needs it; it reads a key per \
            line, and answers a line, NULL for no value, within two seconds. Without an answer the rule gets no value, an error is logged, and the program is \
            started again, at most once in ten seconds. `dbm:` and `dbm=SDBM:` name a DBM file as of AuthDBMUserFile. `dbd:` asks the database of DBDriver and \
            DBDParams, as in `dbd:SELECT to FROM moved WHERE old = %s`; of several rows one is taken at random. `fastdbd:` does so once for each key until \
            the next reload.",
];

/// Rewrite settings of the current place; marks them as set.
fn rewrite(draft: &mut Draft) -> &mut Rewrite {
    let folder = folder(draft);
    let rewrite = match draft.is_in_container() {
        true => &mut draft.settings().response.rewrite,
        false => &mut draft.host().rewrite,
    };
    (rewrite.is_set, rewrite.folder) = (true, folder);
    rewrite
}

/// Place of rules in `<If>`: as in httpd, a name that no file name begins with, so that patterns see the whole name.
const IN_BRANCH: &str = "*If";

/// The current folder or location, with a trailing slash.
fn folder(draft: &Draft) -> Option<Arc<str>> {
    if draft.position.context == SectionContext::If {
        return Some(IN_BRANCH.into());
    }
    let section = draft.config.sections.get(usize::from(draft.position.section))?;
    match (draft.position.context, &section.scope) {
        (SectionContext::Directory | SectionContext::Htaccess, Scope::Directory(folder)) => {
            let folder = Text::new(folder.as_os_str().as_bytes()).0;
            Some(format!("{}/", folder.trim_end_matches('/')).into())
        }
        (SectionContext::Location, Scope::Location(path)) => Some(format!("{}/", path.trim_end_matches('/')).into()),
        _ => None,
    }
}

/// Maps of the main server and of the current host.
fn maps(draft: &mut Draft) -> Maps {
    let main = draft.config.hosts.first().map(|main| main.maps.clone()).unwrap_or_default();
    main.and(&draft.host().maps)
}

/// `RewriteRule Pattern Substitution [flags]`
fn rule(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    draft.charge_rule()?;
    let [pattern, to, flags @ ..] = args else { return Ok(()) };
    warn_of_more(draft, flags);
    let maps = maps(draft);
    let conditions = std::mem::take(&mut rewrite(draft).pending);
    let flags = flags.first().map_or("", String::as_str);
    let rule = Rule::parse(pattern, to, flags, &maps, &mut draft.patterns)?;
    rewrite(draft).rules.push(Arc::new(Rule { conditions, ..rule }));
    Ok(())
}

/// Warns about words behind the flags.
fn warn_of_more(draft: &mut Draft, flags: &[String]) {
    let Some((first, _)) = flags.get(1..).and_then(<[String]>::split_first) else { return };
    let advice = match first.starts_with('#') {
        true => "comments stand on lines of their own",
        false => "write all flags in one pair of brackets, as in [PT,L]",
    };
    draft.warn(&format!("ignores \"{}\", as httpd does; {advice}", flags[1..].join(" ")));
}

/// `RewriteCond TestString CondPattern [flags]`
fn condition(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    draft.charge_rule()?;
    let [text, pattern, flags @ ..] = args else { return Ok(()) };
    warn_of_more(draft, flags);
    let maps = maps(draft);
    let flags = flags.first().map_or("", String::as_str);
    let condition = Condition::parse(text, pattern, flags, &maps, &mut draft.patterns)?;
    rewrite(draft).pending.push(condition);
    Ok(())
}

/// `RewriteBase /path`
fn base(draft: &mut Draft, path: &str) -> Result<(), String> {
    if !path.starts_with('/') {
        return Err(format!("expected a path that begins with /, got \"{path}\""));
    }
    rewrite(draft).base = Some(format!("{}/", path.trim_end_matches('/')));
    Ok(())
}

/// `RewriteOptions word…`
fn options(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    let mut options = rewrite(draft).options.unwrap_or_default();
    words.iter().try_for_each(|word| options.set(word))?;
    rewrite(draft).options = Some(options);
    // Folders take the options of their host, too, but none of its rules.
    if !draft.is_in_container() {
        draft.settings().response.rewrite.options = Some(options);
    }
    Ok(())
}

/// `RewriteMap name source`, followed by the lines of its file, which `parse` appends.
fn map(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [name, source, lines @ ..] = args else { return Ok(()) };
    let map = match Map::parse(source, |_| Ok(lines.join("\n")))? {
        Map::Asked(MapSource::Dbm(file)) => Map::Asked(MapSource::Dbm(Arc::new(draft.path(&file.to_string_lossy())))),
        map => map,
    };
    if matches!((&map, lines), (Map::Asked(MapSource::Program(_)), [_, ..])) {
        draft.warn("ignores the account after a program: the program runs as the server's User");
    }
    let host = draft.host();
    host.maps = std::mem::take(&mut host.maps).with(name, map);
    Ok(())
}
