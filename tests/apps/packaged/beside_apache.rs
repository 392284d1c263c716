//! One configuration served by Debian's Apache with mod_perl 2 and by Cameleer: `diff-sites` over pages of five
//! packaged programs, each as ModPerl::PerlRun and as a CGI program.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::Signal;
use nix::unistd::geteuid;

use super::cases;
use crate::support::{Address, Finished, Server, Site, free_port, signal, until};

const MODULES: &str = "mpm_prefork authn_core authz_core authz_host alias autoindex dir mime env cgi perl";

/// One process at each server answers one request after the other: awstats has its types of files from a module, which
/// is loaded once, into variables that PerlRun clears. At both servers only the first page of a process has them.
const ONE_PROCESS: &str = "StartServers 1\nServerLimit 1\nMaxRequestWorkers 1\nKeepAlive Off\n";

/// Programs whose pages are the same at each request. awstats orders rows, and cvsweb form fields, by perl's hashes:
/// both servers have PERL_HASH_SEED=0.
const CONF: &str = "ServerRoot \"@DIR@\"\nServerName localhost\nDocumentRoot \"@DIR@/htdocs\"\nTypesConfig /etc/mime.types\n\
    <Directory />\nRequire all granted\n</Directory>\n\
    Alias /gitweb-static/ /usr/share/gitweb/static/\nAlias /cvsweb/css/ /usr/share/cvsweb/css/\n\
    Alias /perl/ \"@DIR@/cgi-bin/\"\nScriptAlias /cgi/ \"@DIR@/cgi-bin/\"\n\
    <Directory \"@DIR@/cgi-bin\">\nOptions +ExecCGI +FollowSymLinks\n</Directory>\n\
    <Location /perl>\nSetHandler perl-script\nPerlResponseHandler ModPerl::PerlRun\nPerlOptions +ParseHeaders\n</Location>\n";

/// Variables of the programs.
const VARIABLES: &[(&str, &str)] = &[
    ("HOME", "home"),
    ("TMPDIR", "tmp"),
    ("GITWEB_CONFIG", "gitweb.perl"),
    ("GIT_CONFIG_GLOBAL", "gitconfig"),
    ("BLOSXOM_CONFIG_FILE", "blosxom/blosxom.conf"),
    ("USEMOD_DATADIR", "wiki"),
];

/// Pages with a difference that is httpd's: mod_perl 2 sends the status 200 and two pages where a program under PerlRun
/// has printed `Status: 404`, and no header at all for blosxom, which prints none there.
const EXPLAINED: &[&str] = &["/perl/gitweb.cgi?p=nope.git", "/perl/gitweb.cgi?p=demo.git;a=nosuch", "/perl/blosxom"];

/// Apache in the foreground, stopped on drop.
struct Apache(Child);

impl Apache {
    #[track_caller]
    fn start(conf: &Path, port: u16) -> Apache {
        let mut command = Command::new("/usr/sbin/apache2");
        command.arg("-f").arg(conf).args(["-D", "FOREGROUND"]).env("PERL_HASH_SEED", "0").env("PERL_PERTURB_KEYS", "0");
        // Apache ends its whole process group.
        command.process_group(0);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut apache = Apache(child.expect("apache2 of pkg/debian-packages/test.txt"));
        until("apache answers", || {
            let ended = apache.0.try_wait().expect("a child");
            assert!(ended.is_none(), "apache has ended: {ended:?}; see apache.log");
            std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        apache
    }
}

impl Drop for Apache {
    fn drop(&mut self) {
        signal(self.0.id() as i32, Signal::SIGTERM);
        let _ = self.0.wait();
    }
}

fn conf(site: &Site) -> String {
    let users = if geteuid().is_root() { "User www-data\nGroup www-data\n" } else { "" };
    let modules: String = MODULES
        .split(' ')
        .map(|name| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"))
        .collect();
    let variable =
        |(name, path): &(&str, &str)| format!("SetEnv {name} @DIR@/{path}\nPerlSetEnv {name} @DIR@/{path}\n");
    let seeds = "SetEnv PERL_HASH_SEED 0\nSetEnv PERL_PERTURB_KEYS 0\n";
    // Without locks: a `cvs` that meets another one's lock sleeps 30 s, and both servers read one repository.
    let cvs = "SetEnv CVSREADONLYFS 1\nPerlSetEnv CVSREADONLYFS 1\n";
    let variables: String = VARIABLES.iter().map(variable).collect();
    site.filled(&format!("{modules}{users}{ONE_PROCESS}{CONF}{seeds}{cvs}{variables}"))
}

/// Paths of the programs below both mounts, and some of the server itself.
fn paths() -> Vec<String> {
    let programs = cases::of(include_str!("site/cases.tsv"));
    let gets = programs.iter().filter(|case| case.mounts.contains('r')).filter_map(cases::Case::path_of_get);
    let mounted = gets.flat_map(|path| ["/perl", "/cgi"].map(|mount| path.replace("{M}", mount)));
    let own = ["/plain.txt", "/gitweb-static/gitweb.css", "/none", "/cgi/none", "/gitweb-static/", "/cgi"];
    mounted.chain(own.map(str::to_owned)).collect()
}

#[test]
fn pages_of_packaged_programs_are_those_of_apache_with_mod_perl_2() {
    let (site, old) = (Site::new(), free_port());
    let real = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/apps/packaged/site");
    let mut prepare = Command::new("sh");
    prepare.arg(format!("{real}/prepare.sh")).arg(site.folder()).arg(site.port.to_string());
    Finished::of(&mut prepare).succeeded();
    let conf = conf(&site);
    site.write(
        "apache.conf",
        &format!(
            "{conf}Listen 127.0.0.1:{old}\n{}",
            site.filled("ErrorLog @DIR@/apache.log\nPidFile @DIR@/apache.pid\n")
        ),
    );
    let log: Vec<String> = paths()
        .iter()
        .map(|path| format!("::1 - - [10/Oct/2025:13:55:36 +0000] \"GET {path} HTTP/1.1\" 200 5\n"))
        .collect();
    site.write("access.log", &log.concat());
    let _apache = Apache::start(&site.path("apache.conf"), old);
    let mut command = site.serve_command();
    site.configure(&conf);
    command.env("PERL_HASH_SEED", "0").env("PERL_PERTURB_KEYS", "0");
    let server = Server::start(site, command);
    let Address::Tcp(new) = server.site.address() else { unreachable!("the site listens on TCP") };
    let [old, new] = [old, new].map(|port| format!("http://127.0.0.1:{port}"));
    let log = server.site.path("access.log").display().to_string();
    let mut command = server.site.command(["diff-sites", &old, &new, "--log", &log, "--json"]);
    let compared = Finished::of(command.args(["--connections", "1", "--ignore-header", "last-modified"]));
    let pages: serde_json::Value = serde_json::from_str(&compared.out).expect("JSON");
    let pages = pages["pages"].as_array().expect("pages");
    assert!(pages.len() > 90, "{} pages", pages.len());
    let differs = |page: &&serde_json::Value| page["differences"].as_array().is_none_or(|all| !all.is_empty());
    let is_explained = |page: &&serde_json::Value| {
        EXPLAINED.iter().any(|start| page["path"].as_str().is_some_and(|path| path.starts_with(start)))
    };
    let others: Vec<_> = pages.iter().filter(differs).filter(|page| !is_explained(page)).collect();
    assert!(others.is_empty(), "{others:#?}");
}
