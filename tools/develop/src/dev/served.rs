//! The developed program: the configuration of its server, that of the page of a mistake, and the files to watch.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use nix::unistd::Uid;
use tempfile::TempDir;

use super::watch::FileWatcher;
use super::web::PREFIX;
use master::configuration::{OptionText, Survey, address_name};
use toolkit::conf::{Conf, environment};
use toolkit::directives::{self, Surroundings};
use toolkit::options::Run;

/// Options whose directives say where the server listens.
const ADDRESSES: [&str; 4] = ["--listen", "--host", "--port", "--tls"];
/// The most files of a loaded program that are watched one by one.
const MAX_LOADED: usize = 4000;
/// Longest list of loaded files, in bytes.
const MAX_LIST_BYTES: u64 = 1024 * 1024;
/// Folders whose files change with packages only.
const OF_PACKAGES: [&str; 3] = ["/usr/share/", "/usr/lib/", "/etc/perl/"];
/// Sends a small script with each page. The filter is for pages of any handler; programs of PSGI that block have their
/// own. `Server-Timing` has milliseconds: `%D` is a number of microseconds behind `D=`, which gets zeros before and a
/// point behind its thousands.
const SCRIPT_IN_PAGES: &str = "AddOutputFilterByType SUBSTITUTE text/html\n\
    Substitute \"s|</body>|<script src=\\\"/.cameleer/dev/reload.js\\\" async></script></body>|i\"\n\
    Header always set Server-Timing %D\nHeader always edit Server-Timing ^D= D=000\n\
    Header always edit Server-Timing ^D=0*([0-9]+)([0-9]{3})$ total;dur=$1.$2\n\
    CustomLog - \"%h %l %u %t \\\"%r\\\" %>s %b\"\n";

/// The developed program, with the folder of its server's files.
pub struct DevelopedProgram {
    run: Run,
    what: What,
    folder: TempDir,
    root: PathBuf,
}

enum What {
    /// The directives of `cameleer run`.
    Program(Vec<OptionText>),
    /// A configuration file.
    Site(PathBuf),
}

impl DevelopedProgram {
    /// Fails if the command line is wrong.
    pub fn new(mut run: Run) -> anyhow::Result<DevelopedProgram> {
        let folder = tempfile::Builder::new().prefix("cameleer-dev-").tempdir().context("a temporary folder")?;
        if Uid::effective().is_root() {
            // The front and the workers run as other users; names below are no secret, and dev.conf is not readable.
            std::fs::set_permissions(folder.path(), Permissions::from_mode(0o711))?;
        }
        let path = run.program.path().filter(|path| path.extension().is_some_and(|end| end == "conf"));
        let (what, root) = match path {
            Some(path) => {
                let file = Conf::of(path).path()?;
                let root = file.parent().unwrap_or(Path::new("/")).to_owned();
                if let Some(envvars) = Some(root.join("envvars")).filter(|path| path.is_file()) {
                    std::os::unix::fs::symlink(envvars, folder.path().join("envvars"))?;
                }
                (What::Site(file), root)
            }
            None => {
                run.program.loaded_list = Some(folder.path().join("loaded"));
                (What::Program(directives::of(&run, &Surroundings::ours()?)?), std::env::current_dir()?)
            }
        };
        Ok(DevelopedProgram { run, what, folder, root })
    }

    /// The folder of the server's files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// ServerRoot.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// PLACK_ENV of the program.
    pub fn environment(&self) -> String {
        let inherited = || Some(environment("PLACK_ENV")?.to_string_lossy().into_owned());
        self.run.program.environment.clone().or_else(inherited).unwrap_or_else(|| "deployment".to_owned())
    }

    /// Writes the configuration that serves the program.
    pub fn write(&self) -> anyhow::Result<()> {
        let mut text = match &self.what {
            What::Program(texts) => {
                let directives: String = texts.iter().map(|text| text.directives.as_str()).collect();
                // A program with an event loop has no middleware that adds the script.
                let script = if directives.contains("PsgiMode event") { SCRIPT_IN_PAGES } else { "" };
                format!("{script}{directives}")
            }
            What::Site(file) => format!("{SCRIPT_IN_PAGES}Include {}\n", quoted(file)),
        };
        text += &self.own_directives();
        text += &format!("PerlPreload off\nPerlPrepare \"{}\"\n", self.prepared());
        text += &format!("ProxyPass {PREFIX} \"unix:{}|http://localhost{PREFIX}\"\n", self.socket());
        self.replace(&text)
    }

    /// Writes the configuration that passes every request to the page of the mistake. Returns false if nobody knows
    /// where to listen.
    pub fn write_mistake(&self) -> anyhow::Result<bool> {
        let Some(mut text) = self.addresses()? else { return Ok(false) };
        text += &self.own_directives();
        text += "StartServers 1\nMinSpareServers 1\nMaxSpareServers 1\nMaxClients 1\n";
        // The page depends on the name by which the client knows the server.
        text += &format!("ProxyPreserveHost On\nProxyPass / \"unix:{}|http://localhost/\"\n", self.socket());
        self.replace(&text)?;
        Ok(true)
    }

    /// The directives of the addresses. `None` for a site without one that can be read, or with TLS: its certificates
    /// may be the mistake.
    fn addresses(&self) -> anyhow::Result<Option<String>> {
        let file = match &self.what {
            What::Program(texts) => {
                let of_addresses = texts.iter().filter(|text| ADDRESSES.contains(&text.option.as_str()));
                return Ok(Some(of_addresses.map(|text| text.directives.as_str()).collect()));
            }
            What::Site(file) => file,
        };
        let config = Survey::of(&Conf::of(file).origin()?).config;
        if config.listen.is_empty() || !config.https.is_empty() {
            return Ok(None);
        }
        Ok(Some(config.listen.iter().map(|listen| format!("Listen {}\n", address_name(listen))).collect()))
    }

    fn own_directives(&self) -> String {
        let folder = self.folder.path().display();
        let pid = match self.run.pid {
            Some(_) => String::new(),
            None => format!("PidFile \"{folder}/pid\"\n"),
        };
        format!("{pid}ControlSocket \"{folder}/control.sock\"\nErrorLog -\nErrorLogFormat json\n")
    }

    /// Code that the process for the next load runs before the change.
    fn prepared(&self) -> String {
        let list = self.folder.path().join("loaded").display().to_string().replace(['\\', '\''], "");
        match &self.what {
            What::Program(_) => format!("require Cameleer::Development; Cameleer::Development::prepare('{list}')"),
            What::Site(_) => "1".to_owned(),
        }
    }

    fn socket(&self) -> String {
        self.folder.path().join("web.sock").display().to_string()
    }

    /// The file is replaced as a whole: a reload by a signal may read it at any time.
    fn replace(&self, text: &str) -> anyhow::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(self.folder.path())?;
        file.write_all(text.as_bytes())?;
        file.persist(self.folder.path().join("dev.conf"))?;
        Ok(())
    }

    /// The message of a mistake without the place of the directive that loads the program: the user wrote no such line.
    pub fn without_own_place(&self, text: &str) -> String {
        let own = format!("{}/dev.conf:", self.folder.path().display());
        let line = |line: &str| {
            let after = line.strip_prefix(&own).and_then(|rest| rest.split_once(": "));
            after.map_or(line, |(_, rest)| rest.strip_prefix("PsgiEval: ").unwrap_or(rest)).to_owned()
        };
        text.lines().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Watches the folders of the program.
    pub fn watch(&self, watcher: &FileWatcher) {
        match &self.what {
            What::Site(file) => {
                watcher.add_file(file);
                watcher.add_tree(&self.root);
            }
            What::Program(_) => self.watch_program(watcher),
        }
        for folder in &self.run.program.include {
            watcher.add_tree(&self.root.join(folder));
        }
        let more = environment("PERL5LIB").unwrap_or_default();
        for folder in std::env::split_paths(&more).filter(|folder| !folder.as_os_str().is_empty()) {
            watcher.add_tree(&self.root.join(folder));
        }
        if let Some(folder) = &self.run.program.statics {
            self.watch_static(folder, watcher);
        }
        for path in &self.run.watch {
            let path = self.root.join(path);
            if path.is_dir() { watcher.add_every_file(&path) } else { watcher.add_file(&path) }
        }
    }

    /// Every file of `--static` is part of a page. A folder that contains the program may also hold its logs and data,
    /// so only sources count there.
    fn watch_static(&self, folder: &Path, watcher: &FileWatcher) {
        let path = self.root.join(folder);
        match self.run.program.public_files_beside() {
            Some(_) => watcher.add_tree(&path),
            None => watcher.add_every_file(&path),
        }
    }

    fn watch_program(&self, watcher: &FileWatcher) {
        let named = self.run.program.path().cloned().unwrap_or_else(|| "app.psgi".into());
        let path = self.root.join(named);
        let file = path.canonicalize().unwrap_or_else(|_| path.clone());
        if file.is_dir() {
            return watcher.add_tree(&file);
        }
        watcher.add_file(&path);
        watcher.add_file(&file);
        let Some(folder) = file.parent() else { return };
        // A whole home directory holds other things.
        let is_home = environment("HOME").is_some_and(|home| Path::new(&home) == folder);
        if !is_home && folder.parent().is_some() {
            watcher.add_tree(folder);
        }
        for name in ["lib", "views", "templates"] {
            watcher.add_tree(&folder.join(name));
        }
    }

    /// Watches the files that the program has loaded from anywhere, but those of packages.
    pub fn watch_loaded(&self, watcher: &FileWatcher) {
        let Ok(file) = std::fs::File::open(self.folder.path().join("loaded")) else { return };
        let Ok(list) = std::io::read_to_string(std::io::Read::take(file, MAX_LIST_BYTES)) else { return };
        let own = list.lines().filter(|path| !OF_PACKAGES.iter().any(|folder| path.starts_with(folder)));
        for path in own.take(MAX_LOADED) {
            watcher.add_file(&self.root.join(path));
        }
    }
}

fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display().to_string().replace('\\', "\\\\").replace('"', "\\\""))
}
