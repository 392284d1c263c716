//! Who may come in, by name and password.

use crate::config::draft::{Draft, Opened};
use crate::config::model::access::{FileTurn, Merging, PasswordProviders, Require, Requirement, Satisfy, Vocabulary};
use crate::config::model::overrides::Class;
use crate::config::syntax::tree::{ConfigError, Directive};
use crate::config::table::row::{CONTAINERS, MANY, ROW, Row, Takes};

pub static ROWS: &[Row] = &[
    Row {
        name: "Satisfy",
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Word("All|Any", satisfy),
        because: "All: what was asked for is asked for",
        per_method: true,
        about: "Any: the right address or the right user is enough. As in httpd 2.4, a section with an Order, Allow or Deny of its own \
            and no Satisfy begins anew with All.",
        ..ROW
    },
    Row {
        name: "AuthType",
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Word("Basic|name", auth_type),
        because: "only places with Require need one",
        about: "How users say who they are. Basic, or any name that a PerlAuthenHandler understands.",
        ..ROW
    },
    Row {
        name: "AuthName",
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Word("realm", |d, name| {
            d.said().access.auth_name = Some(name.to_owned());
            Ok(())
        }),
        because: "only the site knows what its users know",
        about: "What browsers show beside the question for the password; they send the same one to places of the same name.",
        ..ROW
    },
    Row {
        name: "AuthUserFile",
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Path(|d, path| d.said().access.user_file = Some(path)),
        because: "no place for passwords is safe to guess",
        about: "Lines of `user:hash` as htpasswd writes them: bcrypt, MD5 ($apr1$), SHA-1, crypt. Plain text is never accepted. A change of \
            the file is seen within a second. It must be a regular file of at most 16 MB (200,000 users with bcrypt), or what needs it is a 500.",
        ..ROW
    },
    Row {
        name: "AuthGroupFile",
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Path(|d, path| d.said().access.group_file = Some(path)),
        because: "only `Require group` needs one",
        about: "Lines of `group: user user…`. A change of the file is seen within a second. It must be a regular file of at most 4 MB.",
        ..ROW
    },
    Row {
        name: "AuthAuthoritative",
        aliases: &["AuthBasicAuthoritative"],
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Flag(|d, on| d.said().access.authoritative = Some(on)),
        because: "On, as in httpd: whom the files do not know is refused",
        about: "On: a PerlAuthenHandler or PerlAuthzHandler is asked first, then AuthUserFile and Require, which have the last word. Off: the files \
            are asked first; a user whom AuthUserFile does not know, or whom no Require names, is left to the Perl handlers. A wrong password is \
            refused at once. Whom nobody knows is refused.",
        ..ROW
    },
    Row {
        name: "AuthBasicProvider",
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Words("file|name …", 1..=MANY, basic_provider),
        default: Some("file"),
        because: "the only one that is built in",
        about: "Where passwords are: the file of AuthUserFile, and names of PerlAddAuthnProvider, asked in the order in which they stand here, \
            `file` first or last. Without `file` AuthUserFile is not asked.",
        ..ROW
    },
    Row {
        name: "AuthMerging",
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Word("Off|And|Or", merging),
        because: "Off, as in httpd: an inner section says it anew",
        about: "What becomes of an outer section's Require where this section has its own: it is replaced, both must be met, or one is enough. \
            It holds for this section only.",
        ..ROW
    },
    Row {
        name: "AuthzSendForbiddenOnFailure",
        contexts: CONTAINERS,
        takes: Takes::Flag(|d, on| d.said().access.forbids = Some(on)),
        because: "Off, as in httpd: the user may have another name",
        about: "On: a user whose password was right and whom Require does not want is answered 403 instead of being asked again (401).",
        ..ROW
    },
    Row {
        name: "Require",
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Words("user|group|valid-user|all|ip|host|local|env|expr|method|not …", 1..=MANY, require),
        because: "everybody may come",
        per_method: true,
        about: "One of the lines of a section must be met: `user ana`, `group staff`, `valid-user`; as in httpd 2.4 `all granted`, `all denied`, \
            `ip 10.1`, `host example.com`, `local`, `env name`, `method GET`, `expr` with an expression as SetEnvIfExpr has it. A PerlAuthzHandler may know other words.",
        ..ROW
    },
    Row {
        name: "RequireAll",
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Section("", 0..=0, require_all),
        because: "see Require",
        per_method: true,
        about: "All lines in it must be met. It may hold Require, `Require not`, RequireAny and RequireNone.",
        ..ROW
    },
    Row {
        name: "RequireAny",
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Section("", 0..=0, require_any),
        because: "see Require",
        per_method: true,
        about: "One of the lines in it must be met.",
        ..ROW
    },
    Row {
        name: "RequireNone",
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Section("", 0..=0, require_none),
        because: "see Require",
        about: "None of the lines in it may be met. It stands in a RequireAll.",
        ..ROW
    },
];

/// `Satisfy All|Any`
fn satisfy(draft: &mut Draft, text: &str) -> Result<(), String> {
    draft.said().access.satisfy = Some(Some(match text.to_ascii_lowercase().as_str() {
        "all" => Satisfy::All,
        "any" => Satisfy::Any,
        _ => return Err(format!("expected All or Any, got \"{text}\"")),
    }));
    Ok(())
}

/// `AuthType Basic`, or None, which takes back an outer section's; another name needs Perl code that knows what to do with it.
fn auth_type(draft: &mut Draft, name: &str) -> Result<(), String> {
    let is_known = ["Basic", "None"].iter().any(|known| name.eq_ignore_ascii_case(known));
    if !is_known && !draft.config.perl_access {
        return Err(format!(
            "expected Basic, got \"{name}\": another type needs a PerlAuthenHandler, and there is none in this configuration"
        ));
    }
    draft.said().access.auth_type = Some(name.to_owned());
    Ok(())
}

/// `AuthBasicProvider file|name…`: the names are those of PerlAddAuthnProvider.
fn basic_provider(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    let is_file = |name: &String| name.eq_ignore_ascii_case("file");
    let handler = |name: &String| {
        let handler = draft.config.authn_providers.get(name).cloned();
        handler.ok_or_else(|| {
            format!("expected file or the name of a PerlAddAuthnProvider above this line, got \"{name}\"")
        })
    };
    let handlers = names.iter().filter(|name| !is_file(name)).map(handler).collect::<Result<_, String>>()?;
    let file = match names.iter().position(is_file) {
        None => FileTurn::Never,
        Some(last) if last + 1 == names.len() => FileTurn::Last,
        Some(0) => FileTurn::First,
        Some(_) => return Err("expected file in the first place or in the last".to_owned()),
    };
    draft.said().access.passwords = Some(PasswordProviders { handlers, file });
    Ok(())
}

/// `AuthMerging Off|And|Or`
fn merging(draft: &mut Draft, text: &str) -> Result<(), String> {
    draft.said().access.requires.merging = match text.to_ascii_lowercase().as_str() {
        "off" => Merging::Off,
        "and" => Merging::And,
        "or" => Merging::Or,
        _ => return Err(format!("expected Off, And or Or, got \"{text}\"")),
    };
    Ok(())
}

/// `Require what…`
fn require(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let what = Require::parse(args, &mut vocabulary(draft))?;
    if matches!(what, Require::Not(_)) {
        return Err("`not` alone lets nobody in: put it in <RequireAll> beside what does".to_owned());
    }
    add(draft, words(args), what);
    Ok(())
}

/// `<RequireAll>`
fn require_all(draft: &mut Draft, _: &[String], inside: &[Directive]) -> Opened {
    section(draft, "<RequireAll>", Require::Every, inside)
}

/// `<RequireAny>`
fn require_any(draft: &mut Draft, _: &[String], inside: &[Directive]) -> Opened {
    section(draft, "<RequireAny>", Require::Any, inside)
}

/// `<RequireNone>`
fn require_none(_: &mut Draft, _: &[String], _: &[Directive]) -> Opened {
    Err("alone lets nobody in: put it in <RequireAll> beside what does".to_owned())
}

fn vocabulary(draft: &mut Draft) -> Vocabulary<'_> {
    let Draft { config, patterns, .. } = draft;
    Vocabulary { providers: &config.authz_providers, any_text: config.perl_access, patterns }
}

fn section(draft: &mut Draft, name: &str, combine: fn(Vec<Require>) -> Require, inside: &[Directive]) -> Opened {
    let parts = parts(draft, inside);
    add(draft, name.to_owned(), combine(parts));
    Ok(None)
}

fn add(draft: &mut Draft, text: String, what: Require) {
    let requirement = Requirement { methods: draft.position.methods, text, what };
    draft.said().access.requires.lines.get_or_insert_default().push(requirement);
}

/// As one line, words with spaces in quotation marks.
fn words(args: &[String]) -> String {
    let word = |arg: &String| if arg.contains(' ') { format!("\"{arg}\"") } else { arg.clone() };
    args.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// What stands in a section; what is wrong there is reported with its own line.
fn parts(draft: &mut Draft, inside: &[Directive]) -> Vec<Require> {
    let mut parts = Vec::new();
    for directive in inside {
        match part(draft, directive) {
            Ok(part) => parts.push(part),
            Err(message) => {
                draft.errors.push(ConfigError::at(&directive.at, format!("{}: {message}", directive.name)));
            }
        }
    }
    parts
}

fn part(draft: &mut Draft, directive: &Directive) -> Result<Require, String> {
    match (directive.name.to_ascii_lowercase().as_str(), &directive.section) {
        ("require", None) => Require::parse(&directive.args, &mut vocabulary(draft)),
        ("requireall", Some(inside)) => Ok(Require::Every(parts(draft, inside))),
        ("requireany", Some(inside)) => Ok(Require::Any(parts(draft, inside))),
        ("requirenone", Some(inside)) => Ok(Require::None(parts(draft, inside))),
        _ => Err("expected Require, <RequireAll>, <RequireAny> or <RequireNone> in this section".to_owned()),
    }
}
