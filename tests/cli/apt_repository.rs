//! `make apt-repository`: packages that apt gets from a site, by a signature.

use std::process::Command;
use std::time::Duration;

use crate::support::{Finished, Server, Site};

/// A script of `pkg/` with GnuPG's files in the site's folder.
fn pkg(site: &Site, script: &str) -> Command {
    let mut command = Command::new(format!("{}/pkg/{script}", env!("CARGO_MANIFEST_DIR")));
    command.current_dir(site.folder()).env("GNUPGHOME", site.path("gnupg"));
    command
}

fn sh(site: &Site, line: &str) -> Finished {
    let mut command = Command::new("sh");
    command.args(["-ec", &site.filled(line)]).current_dir(site.folder()).env("GNUPGHOME", site.path("gnupg"));
    Finished::of(&mut command)
}

/// Makes an empty package.
fn package(site: &Site, version: &str) -> String {
    let control = format!(
        "Package: cameleer\nVersion: {version}\nArchitecture: amd64\nMaintainer: A <a@example.com>\nDescription: test\n"
    );
    site.write(&format!("{version}/DEBIAN/control"), &control);
    let file = format!("built/cameleer_{version}_amd64.deb");
    sh(site, &format!("mkdir -p built && dpkg-deb --root-owner-group --build {version} {file}")).succeeded();
    file
}

/// Ends GnuPG's agent, which outlives its client, with the test.
struct Key<'a>(&'a Site);

impl Key<'_> {
    fn new(site: &Site) -> Key<'_> {
        let key = "gpg --batch --quiet --passphrase '' --quick-gen-key 'A <a@example.com>' ed25519 sign never";
        sh(site, &format!("mkdir -m 700 gnupg && {key}")).succeeded();
        Key(site)
    }
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        sh(self.0, "gpgconf --kill all");
    }
}

/// apt with nothing but the repository of `server`, and its files in the folder `apt`.
fn apt(server: &Server, words: &str) -> Finished {
    let site = &server.site;
    let source = "deb [arch=amd64 signed-by=@DIR@/htdocs/cameleer.gpg] http://127.0.0.1:@PORT@/ stable main\n";
    site.write("apt/sources.list", source);
    let conf = "Dir \"@DIR@/apt\";\nDir::State \"@DIR@/apt\";\nDir::State::status \"/dev/null\";\nDir::Cache \"@DIR@/apt\";\n\
        Dir::Etc::sourcelist \"@DIR@/apt/sources.list\";\nDir::Etc::sourceparts \"-\";\nDir::Etc::main \"-\";\n\
        Dir::Etc::parts \"-\";\nAPT::Architecture \"amd64\";\nAPT::Sandbox::User \"root\";\nAcquire::http::Proxy::127.0.0.1 \"DIRECT\";\n\
        Acquire::Languages \"none\";\nAPT::Update::Error-Mode \"any\";\nDir::Bin::methods \"/usr/lib/apt/methods\";\n";
    site.write("apt/apt.conf", conf);
    sh(
        site,
        &format!("mkdir -p apt/lists/partial apt/archives/partial && LC_ALL=C APT_CONFIG=@DIR@/apt/apt.conf {words}"),
    )
}

#[test]
fn apt_gets_packages_from_a_repository_that_a_server_publishes() {
    let server = Site::new().serve("");
    let site = &server.site;
    let _key = Key::new(site);
    let add = |file: &str| Finished::of(pkg(site, "apt-repository").args(["a@example.com", "htdocs", file]));
    add(&package(site, "1.0.0")).succeeded();
    // apt asks for newer lists by their time in seconds.
    site.age("htdocs/dists/stable/InRelease", Duration::from_secs(60));
    apt(&server, "apt-get update").succeeded();
    apt(&server, "apt-get download cameleer").succeeded();
    add(&package(site, "1.0.1")).succeeded();
    apt(&server, "apt-get update").succeeded();
    let known = apt(&server, "apt-cache madison cameleer").succeeded().out;
    assert!(known.contains("1.0.0") && known.contains("1.0.1"), "{known}");
    apt(&server, "apt-get download cameleer").succeeded();
    sh(site, "cmp cameleer_1.0.1_amd64.deb htdocs/pool/cameleer_1.0.1_amd64.deb").succeeded();

    let list = "htdocs/dists/stable/InRelease";
    site.write_bytes(list, site.read(list).replace("Origin: Cameleer", "Origin: Stranger").as_bytes());
    sh(site, "rm -r apt/lists").succeeded();
    apt(&server, "apt-get update").failed(100, "BADSIG");
}

#[test]
fn the_maintainer_of_packages_is_the_one_who_makes_them() {
    let folder = "cp -R '@SOURCE@/pkg/debian' debian".replace("@SOURCE@", env!("CARGO_MANIFEST_DIR"));
    let site = Site::new();
    sh(&site, &folder).succeeded();
    let name = |site: &Site| {
        let mut maintainer = pkg(site, "maintainer");
        maintainer.arg("debian").env_remove("DEBFULLNAME").env_remove("DEBEMAIL");
        maintainer
    };
    let before = site.read("debian/control") + &site.read("debian/changelog");
    Finished::of(&mut name(&site)).succeeded();
    assert_eq!(site.read("debian/control") + &site.read("debian/changelog"), before);
    let who = "Ann O'Neil & Sons <ann@example.com>";
    Finished::of(name(&site).env("DEBFULLNAME", "Ann O'Neil & Sons").env("DEBEMAIL", "ann@example.com")).succeeded();
    assert!(site.read("debian/control").contains(&format!("\nMaintainer: {who}\n")));
    let trailers = site.read("debian/changelog");
    let trailers: Vec<&str> = trailers.lines().filter(|line| line.starts_with(" -- ")).collect();
    assert!(
        !trailers.is_empty() && trailers.iter().all(|line| line.starts_with(&format!(" -- {who}  "))),
        "{trailers:?}"
    );
}
