//! THE TABLE: every directive once, with all that is to be said about it. `check`, the help, the reference page and the
//! dashboard are printed from it. To add a directive, add a row.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use super::build::{Context, Draft};
use super::{Directive, PsgiApp, Step, logs, site, unknown, value};

/// A directive.
pub struct Row {
    /// As it is spelt in the reference.
    pub name: &'static str,
    /// Other spellings, equal in every respect.
    pub aliases: &'static [&'static str],
    /// Where it may stand.
    pub contexts: Contexts,
    /// What it takes, and what it does with it.
    pub(super) takes: Takes,
    /// Its value when it is not written, as it would be written.
    pub default: Option<&'static str>,
    /// Why this default, or why none.
    pub because: &'static str,
    /// When a change of it is felt.
    pub effect: Effect,
    /// Two lines of prose.
    pub about: &'static str,
}

/// A set of `Context`s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contexts(u8);

const SERVER: Contexts = Contexts(Context::Server as u8);
const HOSTS: Contexts = Contexts(SERVER.0 | Context::VirtualHost as u8);
const CONTAINERS: Contexts = Contexts(Context::Directory as u8 | Context::Location as u8 | Context::Files as u8);
const ANYWHERE: Contexts = Contexts(HOSTS.0 | CONTAINERS.0);
const NOT_LOCATION: Contexts = Contexts(HOSTS.0 | Context::Directory as u8);

/// When a change is felt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// `cameleer restart`: it belongs to the master.
    Start,
    /// `cameleer reload`: from the next connection or request on.
    Reload,
    /// `cameleer reload`: with the first worker of the new generation.
    Generation,
}

/// What a directive takes, and the function that puts it into the [`Draft`].
pub(super) enum Takes {
    Flag(fn(&mut Draft, bool)),
    Number(RangeInclusive<u64>, fn(&mut Draft, u64)),
    Size(fn(&mut Draft, u64)),
    Duration(fn(&mut Draft, Duration)),
    Path(fn(&mut Draft, PathBuf)),
    Word(&'static str, fn(&mut Draft, &str) -> Result<(), String>),
    /// Their names, how many they may be.
    Words(&'static str, RangeInclusive<usize>, fn(&mut Draft, &[String]) -> Result<(), String>),
    Section(&'static str, RangeInclusive<usize>, Enter),
    /// `parse` has done it already; whether it is a section.
    Reading(&'static str, Form),
}

/// What a section does with its arguments and contents.
type Enter = fn(&mut Draft, &[String], &[Directive]) -> Result<(), String>;

/// With or without angle brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Line,
    Section,
}

const MANY: usize = usize::MAX;

/// The row of a name, or the sentence for the user who wrote it.
pub(super) fn find(name: &str) -> Result<&'static Row, String> {
    DIRECTIVES.iter().find(|row| row.is_called(name)).ok_or_else(|| unknown::message(name))
}

/// The sentence for too few or too many arguments.
pub(super) fn wrong_count(row: &Row, args: &[String]) -> String {
    let advice = match args.iter().any(|arg| arg.starts_with('#')) {
        true => ": comments stand on lines of their own",
        false if args.len() > *row.takes.count().end() => ": put values with spaces in quotation marks",
        false => "",
    };
    format!("expected `{}`, got {} arguments{advice}", row.syntax(), args.len()).replace(" 1 arguments", " 1 argument")
}

impl Row {
    fn is_called(&self, name: &str) -> bool {
        let same = |known: &str| known.eq_ignore_ascii_case(name);
        same(self.name) || self.aliases.iter().any(|alias| same(alias))
    }

    /// `MaxClients a number from 1 to 20000`, `<Location path>`
    pub fn syntax(&self) -> String {
        let words = self.takes.words();
        let line = if words.is_empty() { self.name.to_owned() } else { format!("{} {words}", self.name) };
        if self.takes.form() == Form::Section { format!("<{line}>") } else { line }
    }

    pub(super) fn check_form(&self, directive: &Directive) -> Result<(), String> {
        match (self.takes.form(), &directive.section) {
            (Form::Section, None) => Err(format!("is a section: write {} … </{}>", self.syntax(), self.name)),
            (Form::Line, Some(_)) => Err(format!("is not a section: write `{}`", self.syntax())),
            _ => Ok(()),
        }
    }

    pub(super) fn check_context(&self, context: Context) -> Result<(), String> {
        if self.contexts.has(context) {
            return Ok(());
        }
        Err(format!("is not allowed in {}: move it to {}", context.name(), self.contexts.names().join(" or ")))
    }
}

impl Contexts {
    pub(super) fn has(self, context: Context) -> bool {
        self.0 & context as u8 != 0
    }

    /// As a user calls them.
    pub fn names(self) -> Vec<&'static str> {
        use Context::{Directory, Files, Location, Server, VirtualHost};
        let all = [Server, VirtualHost, Directory, Location, Files];
        all.into_iter().filter(|context| self.has(*context)).map(Context::name).collect()
    }
}

impl Effect {
    /// In a sentence: "A change takes effect …".
    pub fn words(self) -> &'static str {
        match self {
            Effect::Start => "at the next start",
            Effect::Reload => "at the next reload",
            Effect::Generation => "at the next reload, in the new generation of workers",
        }
    }
}

impl Takes {
    /// How many arguments.
    pub(super) fn count(&self) -> RangeInclusive<usize> {
        match self {
            Takes::Words(_, count, _) | Takes::Section(_, count, _) => count.clone(),
            Takes::Reading(..) => 0..=MANY,
            _ => 1..=1,
        }
    }

    /// The arguments, for a reader.
    pub(super) fn words(&self) -> String {
        match self {
            Takes::Flag(_) => "On|Off".to_owned(),
            Takes::Number(bounds, _) => format!("number ({} to {})", bounds.start(), bounds.end()),
            Takes::Size(_) => "size".to_owned(),
            Takes::Duration(_) => "duration".to_owned(),
            Takes::Path(_) => "path".to_owned(),
            Takes::Word(words, _) | Takes::Words(words, ..) => (*words).to_owned(),
            Takes::Section(words, ..) | Takes::Reading(words, _) => (*words).to_owned(),
        }
    }

    fn form(&self) -> Form {
        match self {
            Takes::Section(..) => Form::Section,
            Takes::Reading(_, form) => *form,
            _ => Form::Line,
        }
    }
}

/// Every directive, in the order of the reference.
pub static DIRECTIVES: &[Row] = &[
    Row {
        name: "ServerRoot",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Word("folder", |_, _| Ok(())),
        default: None,
        because: "`-d` or the folder of the configuration file says it",
        effect: Effect::Start,
        about: "Relative paths start here, those above it in the file, too.",
    },
    Row {
        name: "Listen",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Words("[address:]port|socket-path [http]", 1..=2, site::listen),
        default: None,
        because: "a port that nobody asked for is a hole: at least one must be written",
        effect: Effect::Reload,
        about: "Where to listen: a port on all IPv4 addresses, an address with port, `[::]:port`, or the path of a unix socket. \
            May be repeated.",
    },
    Row {
        name: "ListenBacklog",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Number(1..=65535, |d, n| d.config.listen_backlog = n as u32),
        default: Some("511"),
        because: "as httpd; the kernel keeps a burst while the front is busy",
        effect: Effect::Start,
        about: "How many connections the kernel keeps before they are accepted; it may keep fewer (net.core.somaxconn).",
    },
    Row {
        name: "User",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Word("name|#id", |d, name| set(&mut d.config.user, name)),
        default: None,
        because: "without root there is nobody to change to",
        effect: Effect::Start,
        about: "Who the front and the Perl processes run as when the master is started by root.",
    },
    Row {
        name: "Group",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Word("name|#id", |d, name| set(&mut d.config.group, name)),
        default: None,
        because: "the group of User",
        effect: Effect::Start,
        about: "The group that goes with User.",
    },
    Row {
        name: "PidFile",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Path(|d, path| d.config.pid_file = Some(path)),
        default: None,
        because: "the control socket and systemd need none",
        effect: Effect::Start,
        about: "Holds the process id of the master while it runs.",
    },
    Row {
        name: "ControlSocket",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Path(|d, path| d.config.control_socket = Some(path)),
        default: None,
        because: "the master chooses a private place",
        effect: Effect::Start,
        about: "The unix socket over which `cameleer status`, `reload` and `stop` talk to the master.",
    },
    Row {
        name: "ServerName",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Word("name[:port]", site::server_name),
        default: None,
        because: "the Host header of the request serves as well",
        effect: Effect::Reload,
        about: "The name by which a virtual host is found, and the name in links that the server makes itself.",
    },
    Row {
        name: "ServerAlias",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("name…", 1..=MANY, |d, names| {
            d.host().server_aliases.extend_from_slice(names);
            Ok(())
        }),
        default: None,
        because: "most hosts have one name",
        effect: Effect::Reload,
        about: "More names of a virtual host; `*` and `?` are wildcards.",
    },
    Row {
        name: "ServerAdmin",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Word("address", |d, address| set(&mut d.host().server_admin, address)),
        default: None,
        because: "an address that nobody reads helps nobody",
        effect: Effect::Reload,
        about: "The mail address given to programs as SERVER_ADMIN. A virtual host inherits it.",
    },
    Row {
        name: "NameVirtualHost",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Words("address", 1..=1, |d, _| {
            d.warn("has no effect, as in httpd 2.4: remove it");
            Ok(())
        }),
        default: None,
        because: "several virtual hosts on one address are told apart by name anyway",
        effect: Effect::Reload,
        about: "Accepted for old configurations and ignored, with a warning.",
    },
    Row {
        name: "LoadModule",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Words("identifier file", 2..=2, |d, args| {
            site::load_module(d, args);
            Ok(())
        }),
        default: None,
        because: "everything that we have is built in",
        effect: Effect::Start,
        about: "Accepted and ignored for httpd's modules whose work we do ourselves (mod_perl, mod_alias, …); a warning for others.",
    },
    Row {
        name: "StartServers",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Number(1..=20000, |d, n| d.config.pool.start = n as u32),
        default: Some("5"),
        because: "httpd's prefork; the others are a fork of a few milliseconds away",
        effect: Effect::Generation,
        about: "Workers forked at the start. Limited by MaxClients.",
    },
    Row {
        name: "MinSpareServers",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Number(1..=20000, |d, n| d.config.pool.min_spare = n as u32),
        default: Some("5"),
        because: "httpd's prefork: enough for a burst while more are forked",
        effect: Effect::Reload,
        about: "With fewer idle workers more are forked.",
    },
    Row {
        name: "MaxSpareServers",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Number(1..=20000, |d, n| d.config.pool.max_spare = n as u32),
        default: Some("10"),
        because: "httpd's prefork: twice the minimum keeps the pool from swinging",
        effect: Effect::Reload,
        about: "With more idle workers some leave. Taken as MinSpareServers + 1 when it is not above MinSpareServers.",
    },
    Row {
        name: "MaxClients",
        aliases: &["MaxRequestWorkers"],
        contexts: SERVER,
        takes: Takes::Number(1..=20000, |d, n| d.config.pool.max_clients = n as u32),
        default: Some("256"),
        because: "httpd's prefork; set it to memory divided by the size of a busy worker",
        effect: Effect::Reload,
        about: "The most workers at one time, that is: requests in Perl at one time. Connections are not counted, they need no worker.",
    },
    Row {
        name: "MaxRequestsPerChild",
        aliases: &["MaxConnectionsPerChild"],
        contexts: SERVER,
        takes: Takes::Word("number|low-high", max_requests),
        default: Some("10000-12000"),
        because: "Perl programs grow; a fork every ten thousand requests costs nothing that can be measured",
        effect: Effect::Reload,
        about: "A worker leaves after so many requests and is replaced; 0 is never. Of a range each worker draws its own number, so that \
            they do not leave together.",
    },
    Row {
        name: "QueueLength",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Number(1..=1_000_000, |d, n| d.config.pool.queue_length = n as usize),
        default: Some("1024"),
        because: "four requests for each of 256 workers; a longer queue answers people who have left",
        effect: Effect::Reload,
        about: "Requests that may wait for a worker. More are answered 503 at once.",
    },
    Row {
        name: "QueueTimeout",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Duration(|d, time| d.said().queue_timeout = Some(time)),
        default: Some("30s"),
        because: "people wait no longer, and proxies neither",
        effect: Effect::Reload,
        about: "A request that has waited so long for a worker is answered 503 with Retry-After.",
    },
    Row {
        name: "RequestTimeout",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Duration(|d, time| d.said().request_timeout = Some(time)),
        default: Some("300s"),
        because: "httpd's Timeout for scripts was 300 for decades: reports run that long, loops longer",
        effect: Effect::Reload,
        about: "A request that has been in Perl so long is answered 504 and its worker is killed; 0 is never.",
    },
    Row {
        name: "StartTimeout",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Duration(|d, time| d.config.timeouts.start = time),
        default: Some("60s"),
        because: "large sites compile for twenty seconds on small machines",
        effect: Effect::Reload,
        about: "A generation that has not loaded all its Perl by then has failed; at a reload the old one stays.",
    },
    Row {
        name: "GracefulShutdownTimeout",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Duration(|d, time| d.config.timeouts.graceful = time),
        default: Some("30s"),
        because: "systemd kills after 90 s, orchestrators after 30",
        effect: Effect::Reload,
        about: "How long requests at work may take to end at a graceful stop, and in an old generation; 0 is as long as they want.",
    },
    Row {
        name: "Timeout",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Duration(|d, time| d.config.timeouts.client = time),
        default: Some("60s"),
        because: "httpd's",
        effect: Effect::Reload,
        about: "The longest wait for the client: for the head of a request, the next piece of its body, the next bytes it accepts.",
    },
    Row {
        name: "KeepAlive",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Flag(|d, on| d.config.keep_alive = on),
        default: Some("On"),
        because: "a new connection costs client and server a round trip",
        effect: Effect::Reload,
        about: "Whether a connection may carry several requests.",
    },
    Row {
        name: "KeepAliveTimeout",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Duration(|d, time| d.config.timeouts.keep_alive = time),
        default: Some("5s"),
        because: "httpd's; browsers open a new one when they come later",
        effect: Effect::Reload,
        about: "How long an idle connection is kept.",
    },
    Row {
        name: "MaxKeepAliveRequests",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Number(0..=u32::MAX as u64, |d, n| d.config.max_keep_alive_requests = n as u32),
        default: Some("0"),
        because: "httpd's 100 frees a process for others; here a connection holds none",
        effect: Effect::Reload,
        about: "Requests of one connection, after which it is closed; 0 is any number.",
    },
    Row {
        name: "LimitRequestLine",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Number(64..=1_048_576, |d, n| d.config.limits.request_line = n as usize),
        default: Some("8190"),
        because: "httpd's; proxies send no more",
        effect: Effect::Reload,
        about: "Bytes of the request line. A longer one is answered 414.",
    },
    Row {
        name: "LimitRequestFields",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Number(1..=32767, |d, n| d.config.limits.fields = n as usize),
        default: Some("100"),
        because: "httpd's; browsers send twenty",
        effect: Effect::Reload,
        about: "Header fields of a request. More are answered 431.",
    },
    Row {
        name: "LimitRequestFieldSize",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Number(64..=1_048_576, |d, n| d.config.limits.field_size = n as usize),
        default: Some("8190"),
        because: "httpd's; cookies stay below 4096",
        effect: Effect::Reload,
        about: "Bytes of one header field. A longer one is answered 431.",
    },
    Row {
        name: "LimitRequestBody",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Size(|d, size| d.said().limit_request_body = Some(size)),
        default: Some("1G"),
        because: "httpd's since 2.4.54; bodies are buffered, so a limit protects the disk",
        effect: Effect::Reload,
        about: "Bytes of a request body; 0 is unlimited. A longer one is answered 413.",
    },
    Row {
        name: "DocumentRoot",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Path(|d, path| d.host().document_root = path),
        default: Some("htdocs"),
        because: "httpd's",
        effect: Effect::Reload,
        about: "The folder of the files of the site. A virtual host inherits it.",
    },
    Row {
        name: "Alias",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("/url-path path", 2..=2, |d, args| site::alias(d, args, false)),
        default: None,
        because: "everything lies below DocumentRoot",
        effect: Effect::Reload,
        about: "What is below the URL path lies in another place. The first that matches counts, a virtual host's before the main server's.",
    },
    Row {
        name: "ScriptAlias",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("/url-path path", 2..=2, |d, args| site::alias(d, args, true)),
        default: None,
        because: "no folder is executable by itself",
        effect: Effect::Reload,
        about: "As Alias; what lies there is run as a CGI script, whatever SetHandler and Options say.",
    },
    Row {
        name: "AddType",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Words("type extension…", 2..=MANY, site::add_type),
        default: None,
        because: "the usual extensions are known",
        effect: Effect::Reload,
        about: "The MIME type of files with these extensions.",
    },
    Row {
        name: "DefaultType",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Word("type|None", default_type),
        default: Some("None"),
        because: "httpd's since 2.4: no Content-Type is better than a wrong one",
        effect: Effect::Reload,
        about: "The MIME type of files whose extension is unknown.",
    },
    Row {
        name: "DirectoryIndex",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Words("name…|disabled", 1..=MANY, |d, names| {
            site::directory_index(d, names);
            Ok(())
        }),
        default: Some("index.html"),
        because: "httpd's",
        effect: Effect::Reload,
        about: "The files tried, in this order, when a folder is asked for.",
    },
    Row {
        name: "Options",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Words("[+|-]name…", 1..=MANY, site::options),
        default: Some("FollowSymLinks"),
        because: "httpd's: a link in the site was put there by its owner",
        effect: Effect::Reload,
        about: "ExecCGI, FollowSymLinks, SymLinksIfOwnerMatch, Indexes, All, None. With `+` and `-` the outer options are changed, \
            otherwise replaced.",
    },
    Row {
        name: "AllowOverride",
        aliases: &[],
        contexts: Contexts(Context::Directory as u8),
        takes: Takes::Words("None", 1..=MANY, |_, args| site::allow_override(args)),
        default: Some("None"),
        because: "httpd's; looking for .htaccess files costs every request",
        effect: Effect::Reload,
        about: "Only None: .htaccess files are not supported yet.",
    },
    Row {
        name: "SetHandler",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Word("perl-script|cgi-script|psgi|default-handler", site::set_handler),
        default: Some("default-handler"),
        because: "what is not handed to a program is a file",
        effect: Effect::Reload,
        about: "Who answers: the PerlHandler list, a CGI script kept compiled, the PsgiApp, or the file itself. `None` is default-handler.",
    },
    Row {
        name: "PerlHandler",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Words("handler…", 1..=MANY, |d, names| {
            d.said().perl_handlers.get_or_insert_default().extend_from_slice(names);
            Ok(())
        }),
        default: None,
        because: "the site says which",
        effect: Effect::Generation,
        about: "Packages, subs or `sub { … }` that answer requests of `SetHandler perl-script`, in this order until one does not decline. \
            An inner section replaces the list of the outer.",
    },
    Row {
        name: "PerlCleanupHandler",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Words("handler…", 1..=MANY, |d, names| {
            d.said().cleanup_handlers.get_or_insert_default().extend_from_slice(names);
            Ok(())
        }),
        default: None,
        because: "most requests leave nothing to clean",
        effect: Effect::Generation,
        about: "Run after the answer has been sent.",
    },
    Row {
        name: "PerlModule",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Words("Name…", 1..=MANY, |d, names| steps(d, names, |_, name| Step::Module(name.to_owned()))),
        default: None,
        because: "the site says which",
        effect: Effect::Generation,
        about: "Modules loaded before the workers are forked, so that they share them. In the order of the file with PerlRequire.",
    },
    Row {
        name: "PerlRequire",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Words("file…", 1..=MANY, |d, files| steps(d, files, |d, file| Step::Require(d.path(file)))),
        default: None,
        because: "the site says which",
        effect: Effect::Generation,
        about: "Perl files run before the workers are forked, for instance startup.pl.",
    },
    Row {
        name: "PerlLib",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Words("folder…", 1..=MANY, |d, folders| {
            steps(d, folders, |d, folder| Step::Lib(d.path(folder)))
        }),
        default: None,
        because: "perl's own @INC, and what PERL5LIB adds",
        effect: Effect::Generation,
        about: "Folders put in front of @INC, at this place of the start-up.",
    },
    Row {
        name: "PerlEval",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Words("code", 1..=1, |d, code| steps(d, code, |_, code| Step::Eval(code.to_owned()))),
        default: None,
        because: "code belongs in files",
        effect: Effect::Generation,
        about: "Perl code run before the workers are forked. `${name}` in it is Perl's, not replaced.",
    },
    Row {
        name: "PsgiApp",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Word("file", |d, file| {
            let app = PsgiApp::File(d.path(file));
            site::psgi_app(d, app);
            Ok(())
        }),
        default: None,
        because: "the site says which",
        effect: Effect::Generation,
        about: "A .psgi file, loaded before the workers are forked; it answers this section (`SetHandler psgi` is implied) and finds the \
            Location as SCRIPT_NAME.",
    },
    Row {
        name: "PsgiEval",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Word("code", |d, code| {
            site::psgi_app(d, PsgiApp::Code(code.to_owned()));
            Ok(())
        }),
        default: None,
        because: "code belongs in files",
        effect: Effect::Generation,
        about: "As PsgiApp with the code itself: `cameleer run -e` makes it. `${name}` in it is Perl's, not replaced.",
    },
    Row {
        name: "RegistryPreload",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("/uri file", 2..=2, site::registry_preload),
        default: None,
        because: "scripts are compiled when they are first asked for",
        effect: Effect::Generation,
        about: "A CGI script compiled before the workers are forked, as Apache::RegistryLoader does.",
    },
    Row {
        name: "PerlSetVar",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Words("name value", 2..=2, |d, args| {
            d.said().set_vars.push((args[0].clone(), args[1].clone(), false));
            Ok(())
        }),
        default: None,
        because: "the program has its own",
        effect: Effect::Reload,
        about: "A value that the program reads with `$r->dir_config('name')`. Replaces earlier ones of the name.",
    },
    Row {
        name: "PerlAddVar",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Words("name value…", 2..=MANY, |d, args| {
            let added = args[1..].iter().map(|value| (args[0].clone(), value.clone(), true));
            d.said().set_vars.extend(added);
            Ok(())
        }),
        default: None,
        because: "the program has its own",
        effect: Effect::Reload,
        about: "As PerlSetVar, added to earlier values of the name: `$r->dir_config->get('name')` gives all.",
    },
    Row {
        name: "PerlSetEnv",
        aliases: &["SetEnv"],
        contexts: ANYWHERE,
        takes: Takes::Words("name [value]", 1..=2, |d, args| {
            let value = args.get(1).cloned().unwrap_or_default();
            d.said().set_env.push((args[0].clone(), value));
            Ok(())
        }),
        default: None,
        because: "programs get the CGI variables only",
        effect: Effect::Reload,
        about: "An environment variable that requests see. The value may be empty.",
    },
    Row {
        name: "PerlPassEnv",
        aliases: &["PassEnv"],
        contexts: ANYWHERE,
        takes: Takes::Words("name…", 1..=MANY, |d, names| {
            site::pass_env(d, names);
            Ok(())
        }),
        default: None,
        because: "the environment of the master may hold secrets",
        effect: Effect::Reload,
        about: "Environment variables of the master that requests see, too.",
    },
    Row {
        name: "PerlSendHeader",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Flag(|d, on| d.said().send_header = Some(on)),
        default: Some("Off"),
        because: "mod_perl 1's: handlers send their header themselves",
        effect: Effect::Reload,
        about: "Whether what a PerlHandler prints begins with a CGI header.",
    },
    Row {
        name: "PerlSetupEnv",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Flag(|d, on| d.said().setup_env = Some(on)),
        default: Some("On"),
        because: "mod_perl 1's: programs expect the CGI variables in %ENV",
        effect: Effect::Reload,
        about: "Whether %ENV is filled for every request. Off is faster for handlers that do not read it.",
    },
    Row {
        name: "ErrorLog",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Word("file|\"|command\"|-", logs::error_log),
        default: Some("-"),
        because: "the terminal, systemd and containers collect standard error",
        effect: Effect::Reload,
        about: "Where errors are logged: a file, the standard input of a command, or `-` for standard error.",
    },
    Row {
        name: "LogLevel",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("level…", 1..=MANY, logs::log_level),
        default: Some("warn"),
        because: "httpd's",
        effect: Effect::Reload,
        about: "What is worth a line: emerg, alert, crit, error, warn, notice, info or debug, and all before it.",
    },
    Row {
        name: "LogFormat",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("format [nickname]", 1..=2, logs::log_format),
        default: None,
        because: "common, combined and vhost_combined are known, with httpd's usual formats",
        effect: Effect::Reload,
        about: "A format for access logs, with a nickname for CustomLog; without one it is TransferLog's.",
    },
    Row {
        name: "CustomLog",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("file|\"|command\"|- format|nickname", 2..=3, logs::custom_log),
        default: None,
        because: "a log that nobody rotates fills the disk",
        effect: Effect::Reload,
        about: "An access log; `-` is standard output. A virtual host without one uses those of the main server.",
    },
    Row {
        name: "TransferLog",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("file|\"|command\"|-", 1..=1, logs::transfer_log),
        default: None,
        because: "see CustomLog",
        effect: Effect::Reload,
        about: "An access log in the format of the last LogFormat without nickname, or common.",
    },
    Row {
        name: "VirtualHost",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Section("address[:port]…", 1..=MANY, site::virtual_host),
        default: None,
        because: "one site needs none",
        effect: Effect::Reload,
        about: "A site of its own on these addresses (`*` is any), found by ServerName and ServerAlias among those of the same address; \
            the first of them answers for other names.",
    },
    Row {
        name: "Location",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Section("/url-path", 1..=2, site::location),
        default: None,
        because: "see the directives in it",
        effect: Effect::Reload,
        about: "Settings for a URL path and all below it. Merged last, in the order of the file. `~` takes a regular expression.",
    },
    Row {
        name: "LocationMatch",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Section("regex", 1..=1, site::location_match),
        default: None,
        because: "see the directives in it",
        effect: Effect::Reload,
        about: "As Location, for paths in which the regular expression is found.",
    },
    Row {
        name: "Directory",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Section("path", 1..=2, site::directory),
        default: None,
        because: "see the directives in it",
        effect: Effect::Reload,
        about: "Settings for the files in a folder and all below it. Merged first, the shortest path first. `~` takes a regular expression.",
    },
    Row {
        name: "DirectoryMatch",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Section("regex", 1..=1, site::directory_match),
        default: None,
        because: "see the directives in it",
        effect: Effect::Reload,
        about: "As Directory, for folders in which the regular expression is found. Merged after Directory.",
    },
    Row {
        name: "Files",
        aliases: &[],
        contexts: NOT_LOCATION,
        takes: Takes::Section("name", 1..=2, site::files),
        default: None,
        because: "see the directives in it",
        effect: Effect::Reload,
        about: "Settings for files of this name, in any folder or in that of the enclosing Directory. Merged after Directory, before \
            Location. `~` takes a regular expression.",
    },
    Row {
        name: "FilesMatch",
        aliases: &[],
        contexts: NOT_LOCATION,
        takes: Takes::Section("regex", 1..=1, site::files_match),
        default: None,
        because: "see the directives in it",
        effect: Effect::Reload,
        about: "As Files, for names in which the regular expression is found.",
    },
    Row {
        name: "Perl",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Section("", 0..=1, |_, _, _| {
            Err("sections with Perl code are not supported yet: write what they produce, or PerlRequire a file"
                .to_owned())
        }),
        default: None,
        because: "not supported yet",
        effect: Effect::Generation,
        about: "Configuration made by Perl code. Not supported yet.",
    },
    Row {
        name: "IfModule",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Reading("[!]module", Form::Section),
        default: None,
        because: "see the directives in it",
        effect: Effect::Start,
        about: "Read only if the module (`mod_perl.c` or `perl_module`) is one whose work we do, or with `!` is not. Only here there is \
            `cameleer.c`.",
    },
    Row {
        name: "IfDefine",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Reading("[!]name", Form::Section),
        default: None,
        because: "see the directives in it",
        effect: Effect::Start,
        about: "Read only if the name is given by `-D` or Define, or with `!` is not.",
    },
    Row {
        name: "Define",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Reading("name [value]", Form::Line),
        default: None,
        because: "`-D` and the environment",
        effect: Effect::Reload,
        about: "Gives `${name}` a value for the lines below; defined names come before environment variables.",
    },
    Row {
        name: "UnDefine",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Reading("name", Form::Line),
        default: None,
        because: "what is defined stays so",
        effect: Effect::Reload,
        about: "Takes back a Define or a `-D`.",
    },
    Row {
        name: "Include",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Reading("file|folder|pattern", Form::Line),
        default: None,
        because: "one file is enough for many",
        effect: Effect::Reload,
        about: "Reads other files here: one, all in a folder and below, or those that match `*`, `?` and `[…]`; sorted by name.",
    },
    Row {
        name: "IncludeOptional",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Reading("file|folder|pattern", Form::Line),
        default: None,
        because: "one file is enough for many",
        effect: Effect::Reload,
        about: "As Include; it is no error when there is no such file.",
    },
];

fn set(field: &mut Option<String>, value: &str) -> Result<(), String> {
    *field = Some(value.to_owned());
    Ok(())
}

fn max_requests(draft: &mut Draft, text: &str) -> Result<(), String> {
    draft.config.pool.max_requests = value::range(text)?;
    Ok(())
}

fn default_type(draft: &mut Draft, text: &str) -> Result<(), String> {
    draft.said().default_type = Some(text.to_owned());
    Ok(())
}

fn steps(draft: &mut Draft, args: &[String], step: fn(&Draft, &str) -> Step) -> Result<(), String> {
    for arg in args {
        let step = step(draft, arg);
        draft.start_up(step);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_stands_for_two_directives() {
        let mut names: Vec<_> =
            DIRECTIVES.iter().flat_map(|row| std::iter::once(&row.name).chain(row.aliases)).collect();
        names.sort_by_key(|name| name.to_ascii_lowercase());
        assert!(names.windows(2).all(|pair| !pair[0].eq_ignore_ascii_case(pair[1])));
    }

    #[test]
    fn every_directive_has_prose_and_a_reason_for_its_default() {
        for row in DIRECTIVES {
            assert!(row.about.ends_with('.') && row.about.len() > 20, "{}", row.name);
            assert!(!row.because.is_empty() && !row.because.ends_with('.'), "{}", row.name);
            assert!(!row.contexts.names().is_empty(), "{}", row.name);
            assert!(row.default.is_none_or(|default| !default.is_empty()), "{}", row.name);
        }
    }

    #[test]
    fn names_are_written_as_apache_writes_them() {
        for row in DIRECTIVES {
            assert!(row.name.starts_with(|c: char| c.is_ascii_uppercase()), "{}", row.name);
            assert!(row.name.chars().all(|c| c.is_ascii_alphanumeric()), "{}", row.name);
        }
    }
}
