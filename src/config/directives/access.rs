//! Who may come in.

use super::super::access;
use super::super::draft::Draft;
use super::super::overrides::Class;
use super::{ANYWHERE, CONTAINERS, Effect, MANY, Row, Takes};

/// What `<Limit>` can hold: what keeps in mind for which methods it was said.
pub(super) static PER_METHOD: &[&str] = &[
    "Order",
    "Allow",
    "Deny",
    "Require",
    "RequireAll",
    "RequireAny",
    "Satisfy",
    "MaxConcurrentReqs",
    "Limit",
    "LimitExcept",
];

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "Order",
        aliases: &[],
        contexts: CONTAINERS.and_htaccess(Class::LIMIT),
        takes: Takes::Words("Deny,Allow|Allow,Deny|Mutual-failure", 1..=2, access::order),
        default: None,
        because: "without Allow and Deny everybody may come",
        effect: Effect::Reload,
        about: "Deny,Allow: who is neither denied nor allowed may come, and Allow wins. Allow,Deny: may not, and Deny wins. Order, Allow or \
            Deny in an inner section replaces all three of the outer.",
    },
    Row {
        name: "Allow",
        aliases: &[],
        contexts: CONTAINERS.and_htaccess(Class::LIMIT),
        takes: Takes::Words("from all|address|network|name|env=[!]name…", 2..=MANY, access::allow),
        default: None,
        because: "see Order",
        effect: Effect::Reload,
        about: "Clients that may come: `10.1`, `10.1.0.0/16`, `2001:db8::/32`, `.example.com` (its address is looked up both ways), \
            `env=name`. Without an AuthType or Satisfy this is all that is asked.",
    },
    Row {
        name: "Deny",
        aliases: &[],
        contexts: CONTAINERS.and_htaccess(Class::LIMIT),
        takes: Takes::Words("from all|address|network|name|env=[!]name…", 2..=MANY, access::deny),
        default: None,
        because: "see Order",
        effect: Effect::Reload,
        about: "Clients that may not come, written as in Allow. They are answered 403.",
    },
    Row {
        name: "Satisfy",
        aliases: &[],
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Word("All|Any", access::satisfy),
        default: None,
        because: "All: what was asked for is asked for",
        effect: Effect::Reload,
        about: "Any: the right address or the right user is enough.",
    },
    Row {
        name: "AuthType",
        aliases: &[],
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Word("Basic|name", access::auth_type),
        default: None,
        because: "only places with Require need one",
        effect: Effect::Reload,
        about: "How users say who they are. Basic, or any name that a PerlAuthenHandler understands.",
    },
    Row {
        name: "AuthName",
        aliases: &[],
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Word("realm", |d, name| {
            d.said().access.auth_name = Some(name.to_owned());
            Ok(())
        }),
        default: None,
        because: "only the site knows what its users know",
        effect: Effect::Reload,
        about: "What browsers show beside the question for the password; they send the same one to places of the same name.",
    },
    Row {
        name: "AuthUserFile",
        aliases: &[],
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Path(|d, path| d.said().access.user_file = Some(path)),
        default: None,
        because: "no place for passwords is safe to guess",
        effect: Effect::Reload,
        about: "Lines of `user:hash` as htpasswd writes them: bcrypt, MD5 ($apr1$), SHA-1, crypt. Plain text is never accepted. A change of \
            the file is seen within a second. It must be a regular file of at most 16 MB (200,000 users with bcrypt), or what needs it is a 500.",
    },
    Row {
        name: "AuthGroupFile",
        aliases: &[],
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Path(|d, path| d.said().access.group_file = Some(path)),
        default: None,
        because: "only `Require group` needs one",
        effect: Effect::Reload,
        about: "Lines of `group: user user…`. A change of the file is seen within a second. It must be a regular file of at most 4 MB.",
    },
    Row {
        name: "AuthAuthoritative",
        aliases: &["AuthBasicAuthoritative"],
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Flag(|d, on| d.said().access.authoritative = Some(on)),
        default: None,
        because: "On, as in httpd: whom the files do not know is refused",
        effect: Effect::Reload,
        about: "On: a PerlAuthenHandler or PerlAuthzHandler is asked first, then AuthUserFile and Require, which have the last word. Off: the files \
            are asked first; a user whom AuthUserFile does not know, or whom no Require names, is left to the Perl handlers. A wrong password is \
            refused at once. Whom nobody knows is refused.",
    },
    Row {
        name: "AuthBasicProvider",
        aliases: &[],
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Words("file", 1..=MANY, access::basic_provider),
        default: Some("file"),
        because: "the only one that is built in",
        effect: Effect::Reload,
        about: "Where passwords are: the file of AuthUserFile. Other places can be asked by a PerlAuthenHandler.",
    },
    Row {
        name: "AuthMerging",
        aliases: &[],
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Word("Off|And|Or", access::merging),
        default: None,
        because: "Off, as in httpd: an inner section says it anew",
        effect: Effect::Reload,
        about: "What becomes of an outer section's Require where this section has its own: it is replaced, both must be met, or one is enough. \
            It holds for this section only.",
    },
    Row {
        name: "AuthzSendForbiddenOnFailure",
        aliases: &[],
        contexts: CONTAINERS,
        takes: Takes::Flag(|d, on| d.said().access.forbids = Some(on)),
        default: None,
        because: "Off, as in httpd: the user may have another name",
        effect: Effect::Reload,
        about: "On: a user whose password was right and whom Require does not want is answered 403 instead of being asked again (401).",
    },
    Row {
        name: "AllowMethods",
        aliases: &[],
        contexts: CONTAINERS.and_htaccess(Class::LIMIT),
        takes: Takes::Words("reset|method…", 1..=MANY, access::allow_methods),
        default: None,
        because: "reset: what answers says which methods it knows",
        effect: Effect::Reload,
        about: "The methods that are answered here, in capitals; HEAD goes with GET. Others are answered 405. `reset` allows all again.",
    },
    Row {
        name: "Require",
        aliases: &[],
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Words("user|group|valid-user|all|ip|host|local|env|method|not …", 1..=MANY, access::require),
        default: None,
        because: "everybody may come",
        effect: Effect::Reload,
        about: "One of the lines of a section must be met: `user ana`, `group staff`, `valid-user`; as in httpd 2.4 `all granted`, `all denied`, \
            `ip 10.1`, `host example.com`, `local`, `env name`, `method GET`. A PerlAuthzHandler may know other words.",
    },
    Row {
        name: "RequireAll",
        aliases: &[],
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Section("", 0..=0, access::require_all),
        default: None,
        because: "see Require",
        effect: Effect::Reload,
        about: "All lines in it must be met. It may hold Require, `Require not`, RequireAny and RequireNone.",
    },
    Row {
        name: "RequireAny",
        aliases: &[],
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Section("", 0..=0, access::require_any),
        default: None,
        because: "see Require",
        effect: Effect::Reload,
        about: "One of the lines in it must be met.",
    },
    Row {
        name: "RequireNone",
        aliases: &[],
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Section("", 0..=0, access::require_none),
        default: None,
        because: "see Require",
        effect: Effect::Reload,
        about: "None of the lines in it may be met. It stands in a RequireAll.",
    },
    Row {
        name: "Limit",
        aliases: &[],
        contexts: CONTAINERS.and_htaccess(Class::ANY),
        takes: Takes::Section("method…", 1..=MANY, access::limit),
        default: None,
        because: "what is said holds for every method",
        effect: Effect::Reload,
        about: "What is said in it of access holds for these methods only; GET includes HEAD. Others are not asked: LimitExcept is safer.",
    },
    Row {
        name: "LimitExcept",
        aliases: &[],
        contexts: CONTAINERS.and_htaccess(Class::ANY),
        takes: Takes::Section("method…", 1..=MANY, access::limit_except),
        default: None,
        because: "what is said holds for every method",
        effect: Effect::Reload,
        about: "What is said in it of access holds for all methods but these.",
    },
    Row {
        name: "MaxConcurrentReqs",
        aliases: &[],
        contexts: CONTAINERS,
        takes: Takes::Number(1..=1_000_000, access::max_concurrent),
        default: None,
        because: "MaxClients limits the whole site",
        effect: Effect::Reload,
        about: "So many requests of the section may be under way; one more is answered 503 at once, and takes no \
                worker. A request counts where its URI leads, not where Perl code leads it on to.",
    },
    Row {
        name: "HostnameLookups",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Word("On|Off|Double", access::hostname_lookups),
        default: Some("Off"),
        because: "httpd's: looking names up makes the client wait",
        effect: Effect::Reload,
        about: "Whether the client's name is looked up for REMOTE_HOST and the access log; Double: and checked that it has this address.",
    },
    Row {
        name: "IdentityCheck",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Flag(identity_check),
        default: None,
        because: "Off: nobody answers RFC 1413 any more",
        effect: Effect::Reload,
        about: "Accepted for old configurations. With On there is a warning: nobody is asked, and get_remote_logname is undef.",
    },
];

fn identity_check(draft: &mut Draft, on: bool) {
    if on {
        draft.warn("has no effect: clients' ident services are not asked, get_remote_logname is undef");
    }
}
