//! The site's parts: hosts, containers, aliases, handlers. The functions behind the rows of [`directives`].
//!
//! [`directives`]: super::directives

use std::path::PathBuf;

use super::context::{Context, Rank};
use super::draft::Draft;
use super::wildcard::{self, Slash};
use super::{Alias, AliasFrom, Directive, Handler, Listen, PsgiApp, Scope, Step, address, modules, options};

/// `Listen [address:]port [protocol]`
pub fn listen(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let https = match args.get(1).map(|protocol| protocol.to_ascii_lowercase()).as_deref() {
        None | Some("http") => false,
        Some("https") => true,
        Some(protocol) => return Err(format!("expected http or https after the address, got \"{protocol}\"")),
    };
    let listen = address::listen(&args[0])?;
    if https && matches!(listen, Listen::Unix(_)) {
        return Err("TLS is not spoken on unix sockets: who comes there has come over the network already".to_owned());
    }
    if draft.config.listen.contains(&listen) {
        return Err(format!("{} is listened on already: remove one of the two lines", args[0]));
    }
    if https {
        draft.config.https.push((listen.clone(), draft.at.clone()));
    }
    draft.config.listen.push(listen);
    Ok(())
}

/// `ServerName name[:port]`
pub fn server_name(draft: &mut Draft, text: &str) -> Result<(), String> {
    let (name, port) = address::server_name(text)?;
    let host = draft.host();
    (host.server_name, host.server_port) = (Some(name), port);
    Ok(())
}

/// `Alias /from /to`, `ScriptAlias /from /to`
pub fn alias(draft: &mut Draft, args: &[String], script: bool) -> Result<(), String> {
    let from = args[0].clone();
    if !from.starts_with('/') {
        return Err(format!("expected a path that begins with /, got \"{from}\""));
    }
    let to = draft.document_path(&args[1]);
    draft.host().aliases.push(Alias { from: AliasFrom::Prefix(from), to, script });
    Ok(())
}

/// `AliasMatch regex /to/$1`, `ScriptAliasMatch`
pub fn alias_match(draft: &mut Draft, args: &[String], script: bool) -> Result<(), String> {
    let from = AliasFrom::Match(draft.pattern(&args[0])?);
    let to = draft.document_path(&args[1]);
    draft.host().aliases.push(Alias { from, to, script });
    Ok(())
}

/// `DirectoryIndex name… | disabled`; a second line of one section adds to the first.
pub fn directory_index(draft: &mut Draft, args: &[String]) {
    let index = draft.said().directory_index.get_or_insert_default();
    if args.iter().any(|arg| arg == "disabled") {
        index.clear();
    } else {
        index.extend_from_slice(args);
    }
}

/// `Options …`
pub fn options(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let (next, ignored) = options::parse(args)?;
    if let Some(Err(message)) = draft.htaccess.map(|rules| rules.check_options(&next)) {
        return draft.forbidden(message);
    }
    if !ignored.is_empty() {
        draft.warn(&format!("not supported yet and ignored: {}", ignored.join(" ")));
    }
    let said = &mut draft.said().options;
    *said = Some(said.as_ref().map_or_else(|| next.clone(), |before| before.then(&next)));
    Ok(())
}

/// `SetHandler name`
pub fn set_handler(draft: &mut Draft, name: &str) -> Result<(), String> {
    draft.said().handler = Some(handler(draft, name)?);
    Ok(())
}

/// A handler by its name in `SetHandler` or `AddHandler`. What answers for an unknown one, an `Action` may say; else
/// requests for it are errors.
pub fn handler(draft: &mut Draft, name: &str) -> Result<Handler, String> {
    let handler = Handler::named(name);
    if draft.htaccess.is_some() && matches!(handler, Handler::Status | Handler::Info) {
        return Err(format!(
            "{name} is about the whole server and not allowed in .htaccess files: write it in the main configuration"
        ));
    }
    let advice = match name.to_ascii_lowercase().as_str() {
        "modperl" => "mod_perl 2's API is not supported yet: Apache 1.x handlers run with perl-script",
        "server-parsed" => "server-side includes are not supported: print the page in Perl",
        "imap-file" | "type-map" | "isapi-isa" | "ldap-status" | "proxy-server" => "let a Perl handler answer",
        _ => return Ok(handler),
    };
    draft.warn(&format!("there is no {name} here, requests for it are answered 500: {advice}"));
    Ok(handler)
}

/// `PsgiApp file`: the section is served by it, and it is loaded at the start, once.
pub fn psgi_app(draft: &mut Draft, app: PsgiApp) {
    let step = Step::Psgi(app.clone());
    if !draft.config.start_up.iter().any(|known| known.step == step) {
        draft.start_up(step);
    }
    let said = draft.said();
    said.psgi_app = Some(app);
    said.handler = Some(Handler::Psgi);
}

/// `RegistryPreload uri file`
pub fn registry_preload(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let (uri, file) = (args[0].clone(), draft.path(&args[1]));
    if !uri.starts_with('/') {
        return Err(format!("expected the script's URI first, beginning with /, got \"{uri}\""));
    }
    draft.start_up(Step::Registry { file, uri });
    Ok(())
}

/// `PerlPassEnv name…`
pub fn pass_env(draft: &mut Draft, names: &[String]) {
    for name in names {
        match draft.facts.env.iter().find(|(known, _)| known == name) {
            Some((name, value)) => {
                let pair = (name.clone(), value.clone());
                draft.said().set_env.push(pair);
            }
            None => draft.warn(&format!("{name} is not in the environment: it is not passed")),
        }
    }
}

/// `LoadModule identifier file`
pub fn load_module(draft: &mut Draft, args: &[String]) {
    if !modules::is_embodied(&args[0]) {
        draft.warn(&format!("{} is not part of Cameleer and is not loaded: remove this line", args[0]));
    }
}

/// `<VirtualHost address[:port]…>`
pub fn virtual_host(draft: &mut Draft, args: &[String], inside: &[Directive]) -> Result<(), String> {
    let addresses = args.iter().map(|arg| address::host(arg)).collect::<Result<_, _>>()?;
    draft.within_host(addresses, inside)
}

/// `<Location path>`, `<Location ~ regex>`
pub fn location(draft: &mut Draft, args: &[String], inside: &[Directive]) -> Result<(), String> {
    let scope = match args {
        [tilde, regex] if tilde == "~" => Scope::LocationMatch(draft.pattern(regex)?),
        [path] if wildcard::is_pattern(path) => {
            Scope::LocationMatch(draft.pattern(&wildcard::whole(path, Slash::Separates))?)
        }
        [path] => {
            if !path.starts_with('/') {
                draft.warn(
                    "holds for no request, as in httpd, because paths begin with /: nothing in it protects anything",
                );
            }
            Scope::Location(path.clone())
        }
        _ => return Err(format!("expected one path, got \"{}\": put it in quotation marks", args.join(" "))),
    };
    draft.within(Context::Location, scope, Rank::LOCATION, inside)
}

/// `<LocationMatch regex>`
pub fn location_match(draft: &mut Draft, args: &[String], inside: &[Directive]) -> Result<(), String> {
    let scope = Scope::LocationMatch(draft.pattern(&args[0])?);
    draft.within(Context::Location, scope, Rank::LOCATION, inside)
}

/// `<Directory path>`, `<Directory ~ regex>`; a path with wildcards takes its turn among the paths of its depth.
pub fn directory(draft: &mut Draft, args: &[String], inside: &[Directive]) -> Result<(), String> {
    let (scope, rank) = match args {
        [tilde, regex] if tilde == "~" => (Scope::DirectoryMatch(draft.pattern(regex)?), Rank::DIRECTORY_MATCH),
        [path] => {
            let path = draft.document_path(path);
            let rank = Rank::directory(path.components().count());
            (directory_scope(draft, path)?, rank)
        }
        _ => return Err(format!("expected one path, got \"{}\": put it in quotation marks", args.join(" "))),
    };
    draft.within(Context::Directory, scope, rank, inside)
}

fn directory_scope(draft: &mut Draft, path: PathBuf) -> Result<Scope, String> {
    match path.to_str().filter(|text| wildcard::is_pattern(text)) {
        Some(text) => {
            let pattern = wildcard::to_regex(text.trim_end_matches('/'), Slash::Separates);
            Ok(Scope::DirectoryMatch(draft.pattern(&format!("^{pattern}(/|$)"))?))
        }
        None => Ok(Scope::Directory(path)),
    }
}

/// `<DirectoryMatch regex>`
pub fn directory_match(draft: &mut Draft, args: &[String], inside: &[Directive]) -> Result<(), String> {
    let scope = Scope::DirectoryMatch(draft.pattern(&args[0])?);
    draft.within(Context::Directory, scope, Rank::DIRECTORY_MATCH, inside)
}

/// `<Files name>`, `<Files ~ regex>`
pub fn files(draft: &mut Draft, args: &[String], inside: &[Directive]) -> Result<(), String> {
    let regex = match args {
        [tilde, regex] if tilde == "~" => draft.pattern(regex)?,
        [name] => draft.pattern(&wildcard::whole(name, Slash::Ordinary))?,
        _ => return Err(format!("expected one name, got \"{}\": put it in quotation marks", args.join(" "))),
    };
    let rank = draft.files_rank();
    draft.within(Context::Files, Scope::Files(regex), rank, inside)
}

/// `<FilesMatch regex>`
pub fn files_match(draft: &mut Draft, args: &[String], inside: &[Directive]) -> Result<(), String> {
    let rank = draft.files_rank();
    let scope = Scope::Files(draft.pattern(&args[0])?);
    draft.within(Context::Files, scope, rank, inside)
}
