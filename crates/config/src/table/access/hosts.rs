//! Access control by address and method.

use crate::draft::{Draft, OpenedSection};
use crate::model::access::{AccessOrigin, HostRules, Limited, Lookups, Methods, Order, RequestThrottle};
use crate::model::overrides::Class;
use crate::syntax::tree::Directive;
use crate::table::row::{ANYWHERE, CONTAINERS, MANY, Row, flag, number, rows, section, word, words};

pub static ROWS: &[Row] = rows![
    "mod_access_compat.c",
    words("Order", CONTAINERS.and_htaccess(Class::LIMIT), "Deny,Allow|Allow,Deny|Mutual-failure", 1..=2, order)
        .per_method()
        .because("without Allow and Deny every client has access"),
    "Deny,Allow: clients that match neither list have access, and Allow takes precedence. Allow,Deny: they have none, \
     and Deny takes precedence. Order, Allow or Deny in an inner section replaces all three of the outer section.",
    words(
        "Allow",
        CONTAINERS.and_htaccess(Class::LIMIT),
        "from all|address|network|name|env=[!]name…",
        2..=MANY,
        allow
    )
    .per_method()
    .because("see Order"),
    "Clients with access: `10.1`, `10.1.0.0/16`, `2001:db8::/32`, `.example.com` (verified by a reverse and a forward \
     DNS lookup), `env=name`. Without AuthType or Satisfy no user is required.",
    words("Deny", CONTAINERS.and_htaccess(Class::LIMIT), "from all|address|network|name|env=[!]name…", 2..=MANY, deny)
        .per_method()
        .because("see Order"),
    "Clients without access, written as in Allow. They are answered 403.",
    words("AllowMethods", CONTAINERS.and_htaccess(Class::LIMIT), "reset|method…", 1..=MANY, allow_methods)
        .of("mod_allowmethods.c")
        .because("reset: the program or file decides which methods it supports"),
    "Methods that are allowed here, in capitals; GET includes HEAD. Other methods are answered 405. `reset` allows all \
     again.",
    section("Limit", CONTAINERS.and_htaccess(Class::ANY), "method…", 1..=MANY, limit)
        .of("core.c")
        .per_method()
        .because("access directives apply to every method"),
    "Access directives in this section apply to these methods only; GET includes HEAD. All other methods stay \
     unrestricted: LimitExcept is safer.",
    section("LimitExcept", CONTAINERS.and_htaccess(Class::ANY), "method…", 1..=MANY, limit_except)
        .of("core.c")
        .per_method()
        .because("access directives apply to every method"),
    "Access directives in this section apply to all methods except these.",
    number("MaxConcurrentReqs", CONTAINERS, 1..=1_000_000, max_concurrent)
        .of("mod_throttle_access.c")
        .per_method()
        .because("MaxClients limits the whole site"),
    "Maximum number of concurrent requests of this section. Further requests are answered 503 at once and use no \
     worker. The original URI of a request counts, not one that Perl code sets later.",
    word("HostnameLookups", ANYWHERE, "On|Off|Double", hostname_lookups)
        .of("core.c")
        .default("Off", "httpd's default: a name lookup delays the response"),
    "Whether the client's host name is looked up for REMOTE_HOST and the access log. Double also checks that the name \
     resolves to the address.",
    flag("IdentityCheck", ANYWHERE, identity_check)
        .of("mod_ident.c")
        .because("Off: clients no longer run ident services (RFC 1413)"),
    "Accepted for old configurations. On causes a warning: no ident service is queried, and get_remote_logname is \
     undef.",
];

fn identity_check(draft: &mut Draft, on: bool) {
    if on {
        draft.warn("has no effect: ident services are not queried, and get_remote_logname is undef");
    }
}

/// `HostnameLookups On|Off|Double`
fn hostname_lookups(draft: &mut Draft, text: &str) -> Result<(), String> {
    draft.settings().access.lookups = Some(match text.to_ascii_lowercase().as_str() {
        "off" => Lookups::Off,
        "on" => Lookups::On,
        "double" => Lookups::Double,
        _ => return Err(format!("expected On, Off or Double, got \"{text}\"")),
    });
    Ok(())
}

/// `AllowMethods reset|method…`
fn allow_methods(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    let mut methods = Vec::new();
    for word in words {
        match word.as_str() {
            reset if reset.eq_ignore_ascii_case("reset") => methods.clear(),
            method if method.bytes().all(|byte| byte.is_ascii_uppercase() || b"-_".contains(&byte)) => {
                methods.push(method.to_owned());
            }
            other => return Err(format!("expected methods like GET, in capitals, got \"{other}\"")),
        }
    }
    draft.settings().access.allowed_methods = Some(methods);
    Ok(())
}

/// `MaxConcurrentReqs n`
fn max_concurrent(draft: &mut Draft, most: u64) {
    let throttle = RequestThrottle {
        id: draft.next_count(),
        place: draft.limit_place(),
        methods: draft.position.methods,
        most: most as u32,
    };
    draft.settings().access.throttles.get_or_insert_default().push(throttle);
}

/// `Order Deny,Allow`
fn order(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    // httpd refuses the common mistake `Order deny, allow` without naming the allowed values.
    let what = match args.join("").to_ascii_lowercase().as_str() {
        "deny,allow" => Order::DenyAllow,
        "allow,deny" | "mutual-failure" => Order::AllowDeny,
        _ => return Err(format!("expected Deny,Allow or Allow,Deny or Mutual-failure, got \"{}\"", args.join(" "))),
    };
    let methods = draft.position.methods;
    rules(draft).orders.push(Limited { methods, what });
    Ok(())
}

/// `Allow from …`
fn allow(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let (lists, words): (Vec<String>, Vec<String>) = args.iter().cloned().partition(|word| word.ends_with(','));
    for word in &lists {
        draft.warn(&format!(
            "\"{word}\" ends with a comma and so matches nobody, as in httpd; separate addresses by blanks"
        ));
    }
    let origins = if words.len() == 1 && !lists.is_empty() { Vec::new() } else { origins(draft, &words)? };
    rules(draft).allow.extend(origins);
    Ok(())
}

/// `Deny from …`
fn deny(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let origins = origins(draft, args)?;
    rules(draft).deny.extend(origins);
    Ok(())
}

fn rules(draft: &mut Draft) -> &mut HostRules {
    let access = &mut draft.settings().access;
    access.satisfy.get_or_insert(None);
    access.hosts.get_or_insert_default()
}

fn origins(draft: &Draft, args: &[String]) -> Result<Vec<Limited<AccessOrigin>>, String> {
    match args {
        [from, words @ ..] if from.eq_ignore_ascii_case("from") && !words.is_empty() => {
            let limited =
                |word: &String| Ok(Limited { methods: draft.position.methods, what: AccessOrigin::parse(word)? });
            words.iter().map(limited).collect()
        }
        _ => Err(format!("expected `from`, then addresses, networks, names or env=…, got \"{}\"", args.join(" "))),
    }
}

/// `<Limit method…>`
fn limit(draft: &mut Draft, args: &[String], _: &[Directive]) -> OpenedSection {
    draft.limited(Methods::listed(args)?)
}

/// `<LimitExcept method…>`: applies to all other methods, including unknown ones.
fn limit_except(draft: &mut Draft, args: &[String], _: &[Directive]) -> OpenedSection {
    draft.limited(Methods::ALL.without(Methods::listed(args)?))
}
