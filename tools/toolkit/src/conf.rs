//! The options that name a configuration file and add to it.

use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use super::Misuse;
use config::Facts;
use master::configuration::{ConfigInput, ConfigOrigin};

/// Options that select a configuration, and add to it.
#[derive(Debug, Default, Args)]
pub struct Conf {
    /// Configuration [default: cameleer.conf here or in /etc/cameleer]
    #[arg(short = 'f', value_name = "FILE", env = "CAMELEER_CONF", hide_env = true)]
    pub file: Option<PathBuf>,
    /// ServerRoot, unless the configuration sets it [default: its folder]
    #[arg(short = 'd', value_name = "DIR", env = "CAMELEER_SERVER_ROOT", hide_env = true)]
    root: Option<PathBuf>,
    /// Define a name for <IfDefine>; repeatable
    #[allow(rustdoc::invalid_html_tags, reason = "the text of --help")]
    #[arg(short = 'D', value_name = "NAME")]
    defines: Vec<String>,
    /// Read this directive before the configuration; repeatable
    #[arg(short = 'C', value_name = "DIRECTIVE")]
    before: Vec<String>,
    /// Read this directive after the configuration; repeatable
    #[arg(short = 'c', value_name = "DIRECTIVE")]
    after: Vec<String>,
}

impl Conf {
    /// Whether `-D DUMP_MODULES` is given, for which httpd lists its modules.
    pub fn dumps_modules(&self) -> bool {
        self.defines("DUMP_MODULES")
    }

    /// Whether `-D name` is given.
    pub fn defines(&self, name: &str) -> bool {
        self.defines.iter().any(|defined| defined == name)
    }

    /// The names of `-D`.
    pub fn defined(&self) -> &[String] {
        &self.defines
    }

    /// The options for a configuration file without additions.
    pub fn of(file: &Path) -> Conf {
        Conf { file: Some(file.to_owned()), ..Conf::default() }
    }

    /// The configuration as arguments of another process, `serve -f FILE …`, with absolute paths.
    pub fn arguments(&self) -> anyhow::Result<Vec<OsString>> {
        let mut arguments: Vec<OsString> = vec!["serve".into(), "-f".into(), self.path()?.into()];
        if let Some(root) = &self.root {
            arguments.extend(["-d".into(), std::path::absolute(root)?.into()]);
        }
        for (option, words) in [("-D", &self.defines), ("-C", &self.before), ("-c", &self.after)] {
            arguments.extend(words.iter().flat_map(|word| [option.into(), word.into()]));
        }
        Ok(arguments)
    }

    /// The origin of the configuration, with its additions.
    pub fn origin(&self) -> anyhow::Result<ConfigOrigin> {
        let file = self.path()?;
        let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
        let root = match &self.root {
            Some(root) => std::path::absolute(root)?,
            None => folder,
        };
        Ok(ConfigOrigin {
            from: ConfigInput::File(file),
            defines: self.defines.clone(),
            before: self.before.clone(),
            after: self.after.clone(),
            facts: facts(root),
        })
    }

    /// Absolute path of the configuration file.
    pub fn path(&self) -> anyhow::Result<PathBuf> {
        let usual = ["cameleer.conf", "/etc/cameleer/cameleer.conf"];
        match &self.file {
            // As in httpd, a relative name is relative to ServerRoot.
            Some(file) => {
                let file = self.root.as_deref().unwrap_or(Path::new("")).join(file);
                std::path::absolute(&file).with_context(|| format!("-f {}", file.display()))
            }
            None => {
                let found = usual.iter().map(Path::new).find(|path| path.exists());
                let found = found.ok_or_else(|| {
                    Misuse(format!("no configuration: neither {} exists; use -f FILE", usual.join(" nor ")))
                })?;
                Ok(std::path::absolute(found)?)
            }
        }
    }
}

/// A variable of this process's environment, if it is not empty.
pub fn environment(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The facts for a configuration, from this process's environment.
pub fn facts(server_root: PathBuf) -> Facts {
    let env =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let started_in = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    Facts { server_root, started_in, env: env.collect(), nonce_key: random_key(), ..Facts::default() }
}

fn random_key() -> [u8; 16] {
    let half = || RandomState::new().hash_one(std::process::id()).to_ne_bytes();
    let (first, second) = (half(), half());
    std::array::from_fn(|at| if at < 8 { first[at] } else { second[at - 8] })
}
