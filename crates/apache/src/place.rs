use std::fmt;
use std::rc::Rc;

type Find = dyn Fn(&[u8]) -> Option<String>;
type Lead = dyn Fn(&[u8]) -> Option<PassedAlias>;

/// The `Alias` that a path has passed: httpd's CONTEXT_PREFIX and CONTEXT_DOCUMENT_ROOT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedAlias {
    /// The beginning of the path that the alias is for.
    pub prefix: String,
    /// The file system path that replaces the alias.
    pub root: String,
    /// The file that the path leads to by it.
    pub file: Vec<u8>,
}

/// Finds the [`PassedAlias`] of a path, if an alias matches it.
#[derive(Clone)]
pub struct AliasOf(Rc<Lead>);

impl AliasOf {
    /// Creates a finder that calls `find`.
    pub fn new(find: impl Fn(&[u8]) -> Option<PassedAlias> + 'static) -> AliasOf {
        AliasOf(Rc::new(find))
    }

    pub(crate) fn path(&self, path: &[u8]) -> Option<PassedAlias> {
        (self.0)(path)
    }
}

impl Default for AliasOf {
    fn default() -> AliasOf {
        AliasOf::new(|_| None)
    }
}

impl fmt::Debug for AliasOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AliasOf")
    }
}

/// Finds the MIME type of a file by its name.
#[derive(Clone)]
pub struct TypeOf(Rc<Find>);

impl TypeOf {
    /// Makes a finder of a function.
    pub fn new(find: impl Fn(&[u8]) -> Option<String> + 'static) -> TypeOf {
        TypeOf(Rc::new(find))
    }

    pub(crate) fn file(&self, name: &[u8]) -> Option<String> {
        (self.0)(name)
    }
}

impl Default for TypeOf {
    fn default() -> TypeOf {
        TypeOf::new(|_| None)
    }
}

impl fmt::Debug for TypeOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TypeOf")
    }
}

/// The merged configuration of the place that a request goes to. The worker builds and caches it.
#[derive(Debug, Clone)]
pub struct Place {
    /// `DocumentRoot`
    pub document_root: String,
    /// `ServerRoot`
    pub server_root: String,
    /// `ServerName`, without port.
    pub server_name: String,
    /// The port of `ServerName`, if that names one.
    pub server_port: Option<u16>,
    /// The first port of `Listen`: `$s->port` of a server whose name has no port.
    pub listen_port: u16,
    /// `ServerAdmin`
    pub server_admin: String,
    /// `Cameleer/0.1 mod_perl/1.31`
    pub server_software: String,
    /// Whether `ServerTokens` shows the components that modules add.
    pub names_components: bool,
    /// Index of the server; 0 is the main one.
    pub host: u16,
    /// The request belongs to a `<VirtualHost>`.
    pub is_virtual: bool,
    /// Path of the `<Location>` whose handler answers; empty: the handler was set elsewhere.
    pub location: String,
    /// The name of the innermost section.
    pub section: String,
    /// Numbers of the sections that apply, in merge order; sections of `.htaccess` files have the highest numbers.
    pub sections: Vec<u32>,
    /// `SetHandler`; `None`: serve a file.
    pub handler: Option<String>,
    /// The names of the `PerlOptions` that are on.
    pub perl_options: String,
    /// The handlers of each phase, by the phase's number: the directive's name, and the handlers' names.
    pub phases: Vec<(&'static str, Vec<String>)>,
    /// Bit set, by phase number, of the phases with handlers before the response.
    pub early_phases: u32,
    /// `PerlDispatchHandler`
    pub dispatcher: Option<String>,
    /// `PerlSetVar` and `PerlAddVar`, in order (`$r->dir_config`).
    pub set_vars: Vec<(String, String)>,
    /// `PerlSetEnv`, `PerlPassEnv`, `SetEnv`, in order.
    pub set_env: Vec<(String, String)>,
    /// `%ENV` as the start-up code left it.
    pub start_env: Rc<[(Vec<u8>, Vec<u8>)]>,
    /// `PATH` of the server's own environment.
    pub path: String,
    /// `PerlSendHeader`: a script's output begins with header lines.
    pub send_header: bool,
    /// `PerlSetupEnv`
    pub setup_env: bool,
    /// `Options`, with the numbers of `Apache::Constants`.
    pub options: i64,
    /// `Timeout` in seconds.
    pub timeout: u32,
    /// `ServerAlias`
    pub names: Vec<String>,
    /// `ErrorLog`, as written.
    pub error_log: String,
    /// `AuthType`
    pub auth_type: Option<String>,
    /// `AuthName`
    pub auth_name: Option<String>,
    /// `Satisfy`
    pub satisfies: Satisfies,
    /// `Require`, in order.
    pub requires: Vec<Requirement>,
    /// `DefaultType`: the type of a response that sets none.
    pub default_type: String,
    /// The MIME types by file name: `TypesConfig`, `AddType` and similar directives.
    pub types: TypeOf,
    /// The aliases of paths.
    pub aliases: AliasOf,
    /// Values that the access logs need.
    pub logged: Rc<Logged>,
    /// `LogLevel`
    pub log_level: crate::Level,
}

/// Values in a host's access log formats that only the worker knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Logged {
    /// `%{…}n`
    pub notes: Vec<String>,
    /// `%{…}e`
    pub env: Vec<String>,
    /// Whether the CPU time is logged; asking the kernel for it costs more than most methods of `$r`.
    pub cpu: bool,
}

/// `$r->satisfies`; the numbers are httpd's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "httpd's names")]
pub enum Satisfies {
    All = 0,
    Any = 1,
    NoSpec = 2,
}

/// A line of `Require`: an element of `$r->requires`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// Bit set of the methods that the line applies to; −1: every method.
    pub method_mask: i64,
    /// The requirement as written, such as `user ana ben`.
    pub text: String,
    /// Whether only an authenticated user can satisfy the line.
    pub of_user: bool,
}

impl Default for Place {
    fn default() -> Place {
        Place {
            document_root: String::new(),
            server_root: String::new(),
            server_name: String::new(),
            server_port: None,
            listen_port: 80,
            server_admin: String::new(),
            server_software: String::new(),
            names_components: true,
            host: 0,
            is_virtual: false,
            location: String::new(),
            section: String::new(),
            sections: Vec::new(),
            handler: Some("perl-script".into()),
            perl_options: String::new(),
            phases: Vec::new(),
            early_phases: 0,
            dispatcher: None,
            set_vars: Vec::new(),
            set_env: Vec::new(),
            start_env: Rc::default(),
            path: String::new(),
            send_header: false,
            setup_env: true,
            options: 0,
            timeout: 300,
            names: Vec::new(),
            error_log: String::new(),
            auth_type: None,
            auth_name: None,
            satisfies: Satisfies::NoSpec,
            requires: Vec::new(),
            default_type: "text/html".into(),
            types: TypeOf::default(),
            aliases: AliasOf::default(),
            logged: Rc::default(),
            log_level: crate::Level::Warn,
        }
    }
}

impl Place {
    /// `Options ExecCGI`
    pub fn exec_cgi(&self) -> bool {
        self.options & OPT_EXECCGI != 0
    }
}

/// Value of mod_perl's constant for `Options ExecCGI`.
pub const OPT_EXECCGI: i64 = 8;
