//! Settings of the location that answers a request: access, options, aliases, logging.

use std::fmt;
use std::rc::Rc;

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

/// A lookup of a fact by its name, such as a [`PassedAlias`] by the path; `None`: there is no such fact.
#[derive(Clone)]
pub struct FactOf<T>(Rc<Find<T>>);

type Find<T> = dyn Fn(&[u8]) -> Option<T>;

impl<T> FactOf<T> {
    /// Makes a finder of a function.
    pub fn new(find: impl Fn(&[u8]) -> Option<T> + 'static) -> FactOf<T> {
        FactOf(Rc::new(find))
    }

    pub(crate) fn find(&self, name: &[u8]) -> Option<T> {
        (self.0)(name)
    }
}

impl<T> Default for FactOf<T> {
    fn default() -> FactOf<T> {
        FactOf::new(|_| None)
    }
}

impl<T> fmt::Debug for FactOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FactOf")
    }
}

/// Declares a struct whose fields have the given defaults, or those of their types.
macro_rules! with_defaults {
    ($(#[$meta:meta])* pub struct $Name:ident { $($(#[$doc:meta])* pub $field:ident: $type:ty $(= $value:expr)?,)* }) => {
        $(#[$meta])*
        pub struct $Name { $($(#[$doc])* pub $field: $type,)* }

        impl Default for $Name {
            fn default() -> $Name {
                $Name { $($field: with_defaults!(@ $($value)?),)* }
            }
        }
    };
    (@ $value:expr) => { $value };
    (@) => { Default::default() };
}

with_defaults! {
    /// The merged configuration of the place that a request goes to. The worker builds and caches it.
    #[derive(Debug, Clone)]
    pub struct PlaceConfig {
        /// `DocumentRoot`
        pub document_root: String,
        /// How many bytes of a file's name are the document root, where `VirtualDocumentRoot` names one for each host.
        pub document_root_in: FactOf<usize>,
        /// `ServerRoot`
        pub server_root: String,
        /// `ServerName`, without port.
        pub server_name: String,
        /// The port of `ServerName`, if that names one.
        pub server_port: Option<u16>,
        /// The first port of `Listen`: `$s->port` of a server whose name has no port.
        pub listen_port: u16 = 80,
        /// `ServerAdmin`
        pub server_admin: String,
        /// `Cameleer/0.1 mod_perl/1.31`
        pub server_software: String,
        /// Whether `ServerTokens` shows the components that modules add.
        pub names_components: bool = true,
        /// Index of the server; 0 is the main one.
        pub host: u16,
        /// The request belongs to a `<VirtualHost>`.
        pub is_virtual: bool,
        /// The `<Location>` whose handler answers; empty when it came from elsewhere.
        pub location: String,
        /// The name of the innermost section.
        pub section: String,
        /// The sections that apply, in merge order; those of `.htaccess` files have the highest numbers.
        pub sections: Vec<u32>,
        /// `SetHandler`; `None`: serve a file.
        pub handler: Option<String> = Some("perl-script".into()),
        /// The names of the `PerlOptions` that are on.
        pub perl_options: String,
        /// The handlers of each phase, by the phase's number: the directive's name, and the handlers' names.
        pub phases: Vec<(&'static str, Vec<String>)>,
        /// One bit per phase that runs before the response, by the phases' numbers.
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
        /// `PerlSendHeader`: a script's output begins with its header.
        pub send_header: bool,
        /// `CGIPassAuth`: programs receive the client's password as `HTTP_AUTHORIZATION`.
        pub pass_auth: bool,
        /// `PerlSetupEnv`
        pub setup_env: bool = true,
        /// `Options`, with the numbers of `Apache::Constants`.
        pub options: i64,
        /// `Timeout` in seconds.
        pub timeout: u32 = 300,
        /// `ServerAlias`
        pub names: Vec<String>,
        /// `ErrorLog`, as written.
        pub error_log: String,
        /// `AuthType`
        pub auth_type: Option<String>,
        /// `AuthName`
        pub auth_name: Option<String>,
        /// `Satisfy`
        pub satisfies: Satisfies = Satisfies::NoSpec,
        /// `Require`, in order.
        pub requires: Vec<RequireLine>,
        /// `DefaultType`: the type of a response that sets none. `None`: text/html with mod_perl 1's API; none with
        /// mod_perl 2's and for programs, as in httpd 2.4.
        pub default_type: Option<String>,
        /// The MIME types by file name: `TypesConfig`, `AddType` and similar directives.
        pub types: FactOf<String>,
        /// The aliases of paths.
        pub aliases: FactOf<PassedAlias>,
        /// Values that the access logs need.
        pub logged: Rc<Logged>,
        /// `LogLevel`
        pub log_level: crate::Level,
    }
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
pub struct RequireLine {
    /// Bit set of the methods that the line applies to; −1: every method.
    pub method_mask: i64,
    /// The requirement as written, such as `user ana ben`.
    pub text: String,
    /// Whether only an authenticated user can satisfy the line.
    pub of_user: bool,
}

impl PlaceConfig {
    /// `Options ExecCGI`
    pub fn exec_cgi(&self) -> bool {
        self.options & OPT_EXECCGI != 0
    }
}

/// Value of mod_perl's constant for `Options ExecCGI`.
pub const OPT_EXECCGI: i64 = 8;
