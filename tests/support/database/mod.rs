//! Database servers for tests: in the site's folder, run by an unprivileged user, stopped on drop.

mod redis;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::signal::Signal;
use nix::unistd::{Uid, User, geteuid};

use super::{Finished, Site, signal, until};

pub use redis::Redis;

/// A database server that listens only on a unix socket in its folder.
pub struct Database {
    product: &'static Product,
    folder: PathBuf,
    process: Child,
}

/// The commands to create, start and probe a database product. `@DIR@` stands for the database's folder.
pub struct Product {
    /// The user that runs the server when the tests run as root.
    user: &'static str,
    create: &'static [&'static str],
    serve: &'static [&'static str],
    is_ready: &'static [&'static str],
    /// Runs once, after the first start.
    prepare: &'static [&'static str],
    /// The signal that stops the server without waiting for clients.
    stop: Signal,
}

/// MariaDB from Debian, with the account `ledger`.
pub const MARIADB: &Product = &Product {
    user: "mysql",
    create: &[
        "mariadb-install-db",
        "--no-defaults",
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        "--datadir=@DIR@/data",
        "--tmpdir=@DIR@",
        "--innodb-log-file-size=4M",
    ],
    serve: &[
        "mariadbd",
        "--no-defaults",
        "--skip-networking",
        "--datadir=@DIR@/data",
        "--tmpdir=@DIR@",
        "--socket=@DIR@/socket",
        "--pid-file=@DIR@/pid",
        "--innodb-log-file-size=4M",
        "--innodb-fast-shutdown=2",
    ],
    is_ready: &["mariadb-admin", "--no-defaults", "--user=root", "--socket=@DIR@/socket", "ping"],
    prepare: &[
        "mariadb",
        "--no-defaults",
        "--user=root",
        "--socket=@DIR@/socket",
        "--execute=create database ledger; create user ledger@localhost; grant all on ledger.* to ledger@localhost; \
         grant process on *.* to ledger@localhost",
    ],
    stop: Signal::SIGTERM,
};

/// PostgreSQL from Debian, with the account `ledger`.
pub const POSTGRES: &Product = &Product {
    user: "postgres",
    create: &["initdb", "--no-sync", "--auth=trust", "--username=postgres", "--pgdata=@DIR@/data"],
    serve: &["postgres", "-D", "@DIR@/data", "-k", "@DIR@", "-c", "listen_addresses=", "-c", "fsync=off"],
    is_ready: &["pg_isready", "--host=@DIR@"],
    prepare: &[
        "psql",
        "--host=@DIR@",
        "--username=postgres",
        "--command=create role ledger login",
        "--command=create database ledger owner ledger",
    ],
    stop: Signal::SIGINT,
};

impl Database {
    /// Creates a database below the site's folder and starts its server.
    #[track_caller]
    pub fn start(site: &Site, product: &'static Product) -> Database {
        let folder = site.path("database");
        fs::create_dir(&folder).expect("a folder in TMPDIR");
        if let Some(user) = product.account() {
            chown(&folder, Some(user.uid.as_raw()), Some(user.gid.as_raw())).expect("root may");
        }
        Finished::of(&mut product.command(product.create, &folder)).succeeded();
        let process = product.serve(&folder, &[]);
        Finished::of(&mut product.command(product.prepare, &folder)).succeeded();
        Database { product, folder, process }
    }

    /// Runs a statement of PostgreSQL.
    #[track_caller]
    pub fn run(&self, statement: &str) {
        let words = ["psql", "--host=@DIR@", "--username=postgres", "--command", statement];
        Finished::of(&mut self.product.command(&words, &self.folder)).succeeded();
    }

    /// Stops the server, which closes all connections, and starts it again on the same data.
    #[track_caller]
    pub fn restart(&mut self) {
        self.restart_with(&[]);
    }

    /// As [`Database::restart`], with more arguments for the server.
    #[track_caller]
    pub fn restart_with(&mut self, more: &[&str]) {
        self.stop();
        self.process = self.product.serve(&self.folder, more);
    }

    /// As [`Database::restart`]. PostgreSQL listens at the address too, with TLS by the site's db.crt and db.key, and
    /// lets accounts in as these lines of pg_hba.conf say.
    #[track_caller]
    pub fn restart_with_tls(&mut self, site: &Site, address: &str, rules: &str) {
        let copied = ["crt", "key"].map(|ending| {
            let file = self.folder.join(format!("server.{ending}"));
            fs::copy(site.path(&format!("db.{ending}")), &file).expect("the site's certificate");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("our own file");
            if let Some(user) = self.product.account() {
                chown(&file, Some(user.uid.as_raw()), Some(user.gid.as_raw())).expect("root may");
            }
            file.display().to_string()
        });
        fs::write(self.folder.join("data/pg_hba.conf"), format!("local all all trust\n{rules}\n"))
            .expect("our own file");
        let [certificate, key] = copied;
        let settings = ["listen_addresses", "ssl", "ssl_cert_file", "ssl_key_file"];
        let values = [address, "on", &certificate, &key];
        let words: Vec<String> = settings.iter().zip(values).map(|(name, value)| format!("--{name}={value}")).collect();
        self.restart_with(&words.iter().map(String::as_str).collect::<Vec<_>>());
    }

    /// Starts the server again after [`Database::stop`].
    #[track_caller]
    pub fn serve(&mut self) {
        self.process = self.product.serve(&self.folder, &[]);
    }

    /// Stops the server.
    #[track_caller]
    pub fn stop(&mut self) {
        signal(self.process.id() as i32, self.product.stop);
        self.process.wait().expect("our own child");
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if self.process.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.stop();
        }
    }
}

impl Product {
    fn account(&self) -> Option<User> {
        let root = geteuid() == Uid::from_raw(0);
        root.then(|| User::from_name(self.user).expect("/etc/passwd").expect("pkg/debian-packages/test.txt"))
    }

    fn command(&self, words: &[&str], folder: &Path) -> Command {
        let words: Vec<String> = words.iter().map(|word| word.replace("@DIR@", &folder.to_string_lossy())).collect();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env("PATH", path()).current_dir(folder).stdin(Stdio::null());
        if let Some(user) = self.account() {
            command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
        }
        command
    }

    #[track_caller]
    fn serve(&self, folder: &Path, more: &[&str]) -> Child {
        let log = || fs::File::options().create(true).append(true).open(folder.join("log")).expect("our own folder");
        let mut command = self.command(self.serve, folder);
        command.args(more);
        let process = command.stdout(log()).stderr(log()).spawn().expect("pkg/debian-packages/test.txt");
        until("the database answers", || Finished::of(&mut self.command(self.is_ready, folder)).code == 0);
        process
    }
}

/// An address of this machine for one server: others may listen at its port of 127.0.0.1.
pub fn own_address() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(1);
    let (process, number) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    format!("127.{}.{}.{}", number % 250 + 1, process / 250 % 250, process % 250 + 1)
}

/// Debian installs PostgreSQL's server programs in a folder for each version.
fn path() -> OsString {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let folders = versions.map(|version| version.path().join("bin"));
    let ours = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(folders.chain(std::env::split_paths(&ours))).expect("no colon in these names")
}
