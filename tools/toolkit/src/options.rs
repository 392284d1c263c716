//! The options of `cameleer run`.

use std::path::{Path, PathBuf};

use clap::Args;

/// Every option is also an environment variable: --max-requests is CAMELEER_MAX_REQUESTS.
#[derive(Debug, Default, Args)]
#[command(after_help = "Every option is also an environment variable: --max-requests is CAMELEER_MAX_REQUESTS.\n\
    PORT and WEB_CONCURRENCY are honoured for --port and --workers.")]
pub struct Run {
    #[command(flatten)]
    #[allow(missing_docs, reason = "clap prints a doc comment of a flattened field as help")]
    pub program: Program,
    /// Listen on HOST:PORT, :PORT, PORT or /path.sock; repeatable
    #[arg(short, long, value_name = "WHERE", env = "CAMELEER_LISTEN", hide_env = true, value_delimiter = ',')]
    pub listen: Vec<String>,
    /// Listen on this address [default: all]
    #[arg(short = 'o', long, env = "CAMELEER_HOST", hide_env = true)]
    pub host: Option<String>,
    /// Listen on this port [default: 5000]
    #[arg(short, long, env = "CAMELEER_PORT", hide_env = true)]
    pub port: Option<u16>,
    /// Serve TLS and HTTP/2 with a self-signed certificate for development
    #[arg(long, env = "CAMELEER_TLS", hide_env = true)]
    pub tls: bool,
    /// Number of workers [default: 5]
    #[arg(long, value_name = "N", env = "CAMELEER_WORKERS", hide_env = true, alias = "max-workers")]
    pub workers: Option<u32>,
    /// Replace a worker after N (or N-M) requests [default: 10000-12000]
    #[arg(long, value_name = "N", env = "CAMELEER_MAX_REQUESTS", hide_env = true, alias = "max-reqs-per-child")]
    pub max_requests: Option<String>,
    /// Accepted: the program is always loaded before the fork
    #[arg(long, env = "CAMELEER_PRELOAD_APP", hide_env = true)]
    pub preload_app: bool,
    /// Log requests; - is standard output
    #[arg(long, value_name = "FILE", env = "CAMELEER_ACCESS_LOG", hide_env = true)]
    pub access_log: Option<String>,
    /// Format of --access-log: common, json, '%h %>s' [default: combined]
    #[arg(long, value_name = "NAME", env = "CAMELEER_LOG_FORMAT", hide_env = true, requires = "access_log")]
    pub log_format: Option<String>,
    /// Error log file [default: standard error, with -D ./error_log]
    #[arg(long, value_name = "FILE", env = "CAMELEER_ERROR_LOG", hide_env = true)]
    pub error_log: Option<String>,
    /// Minimum severity of logged messages [default: warn]
    #[arg(long, value_name = "LEVEL", env = "CAMELEER_LOG_LEVEL", hide_env = true)]
    pub log_level: Option<String>,
    /// Run as this user when started by root
    #[arg(long, value_name = "NAME", env = "CAMELEER_USER", hide_env = true)]
    pub user: Option<String>,
    /// Run as this group when started by root
    #[arg(long, value_name = "NAME", env = "CAMELEER_GROUP", hide_env = true)]
    pub group: Option<String>,
    /// Write the master's process id to this file
    #[arg(long, value_name = "FILE", env = "CAMELEER_PID", hide_env = true)]
    pub pid: Option<PathBuf>,
    /// Control socket of the server [default: a path in /run or TMPDIR]
    #[arg(long, value_name = "PATH", env = "CAMELEER_CONTROL", hide_env = true)]
    pub control: Option<PathBuf>,
    /// Detach from the terminal when the first worker is ready
    #[arg(short = 'D', long, env = "CAMELEER_DAEMONIZE", hide_env = true)]
    pub daemonize: bool,
    /// Load the program again after each change, as `cameleer dev` does
    #[arg(short = 'r', long, env = "CAMELEER_RELOAD", hide_env = true)]
    pub reload: bool,
    /// The same, also after changes of any file below these folders
    #[arg(short = 'R', long = "watch", value_name = "DIR", value_delimiter = ',')]
    pub watch: Vec<PathBuf>,
    /// Read this directive as well; repeatable
    #[arg(short = 'C', value_name = "DIRECTIVE")]
    pub directives: Vec<String>,
    /// Print the directives equivalent to this command line
    #[arg(long)]
    pub show_config: bool,
}

/// Options that select the program to serve; `check` has them, too.
#[derive(Debug, Default, Args)]
pub struct Program {
    /// app.psgi, a CGI script, or a folder of them [default: app.psgi]
    #[arg(value_name = "PROGRAM", env = "CAMELEER_APP", hide_env = true)]
    pub program: Option<PathBuf>,
    /// Alias of PROGRAM
    #[arg(short, long, value_name = "FILE", conflicts_with = "program", hide = true)]
    pub app: Option<PathBuf>,
    /// PSGI application as Perl code
    #[arg(short, value_name = "CODE", env = "CAMELEER_EVAL", hide_env = true)]
    pub eval: Option<String>,
    /// Serve this handler module, or with a program, load it first; repeatable
    #[arg(short = 'M', value_name = "MODULE", env = "CAMELEER_MODULE", hide_env = true, value_delimiter = ',')]
    pub modules: Vec<String>,
    /// Also serve the static files of this folder, without a worker
    #[arg(long = "static", value_name = "DIR", env = "CAMELEER_STATIC", hide_env = true)]
    pub statics: Option<PathBuf>,
    /// CgiMode of scripts: program, fork or persistent [default: program]
    #[arg(long, value_name = "MODE", env = "CAMELEER_CGI_MODE", hide_env = true)]
    pub cgi_mode: Option<String>,
    /// Serve many requests at a time in each worker (PsgiMode event)
    #[arg(long, env = "CAMELEER_EVENT", hide_env = true)]
    pub event: bool,
    /// Add this folder to @INC; repeatable
    #[arg(short = 'I', value_name = "DIR", env = "CAMELEER_INCLUDE", hide_env = true, value_delimiter = ':')]
    pub include: Vec<PathBuf>,
    /// Value of PLACK_ENV [default: deployment, for dev: development]
    #[arg(short = 'E', long = "env", value_name = "NAME", env = "CAMELEER_ENV", hide_env = true)]
    pub environment: Option<String>,
    /// Whether a PSGI application gets what `cameleer dev` adds.
    #[arg(skip)]
    pub in_development: bool,
    /// Where the program writes the names of the files that it has loaded.
    #[arg(skip)]
    pub loaded_list: Option<PathBuf>,
}

impl Program {
    /// The file or folder, as given.
    pub fn path(&self) -> Option<&PathBuf> {
        self.program.as_ref().or(self.app.as_ref())
    }

    /// Whether no program is given.
    pub fn is_empty(&self) -> bool {
        self.path().is_none() && self.eval.is_none() && self.modules.is_empty()
    }

    /// The warning about a folder of `--static` that contains the program: configurations and notes often lie beside
    /// it.
    pub fn public_files_beside(&self) -> Option<String> {
        let folder = self.statics.as_ref()?;
        let usual = self.is_empty().then_some(Path::new("app.psgi"));
        let file = self.path().map(PathBuf::as_path).or(usual)?;
        let is_inside = file.canonicalize().ok()?.starts_with(folder.canonicalize().ok()?);
        is_inside.then(|| {
            format!(
                "--static {}: contains {}, so clients can read the files beside it with endings such as .json, .txt and \
                 .html; name a folder that has public files only",
                folder.display(),
                file.display()
            )
        })
    }

    /// Name of the program for messages.
    pub fn name(&self) -> String {
        match (self.path(), &self.eval, self.modules.first()) {
            (Some(path), ..) => path.display().to_string(),
            (None, Some(_), _) => "the code of -e".to_string(),
            (None, None, Some(module)) => module.clone(),
            (None, None, None) => "app.psgi".to_string(),
        }
    }
}
