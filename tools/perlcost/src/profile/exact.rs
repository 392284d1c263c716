//! `cameleer profile --exact`: profiles one request with Devel::NYTProf, which times each statement. The request runs
//! in a separate server, so that the running one is unaffected.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use sys::privileges;
use toolkit::conf::Conf;
use tune::{InterruptGuard, Shadow, TunedSite};

/// Timeout of the request, which takes many times as long when each statement is timed.
const PATIENCE: Duration = Duration::from_secs(600);
/// Directives of the profiled server: a single worker without memory and time limits.
const INSTEAD: [(&str, &str); 7] = [
    ("StartServers", "1"),
    ("MinSpareServers", "1"),
    ("MaxSpareServers", "1"),
    ("MaxClients", "1"),
    ("MemoryBudget", "off"),
    ("RequestTimeout", "0"),
    ("SlowLog", "off"),
];
/// Number of subs in the output.
const SHOWN: u32 = 20;
/// Perl program that prints the subs with most time of their own; its arguments are the profile and the number of
/// subs.
const TOP: &str = "use Devel::NYTProf::Data; my $p = Devel::NYTProf::Data->new({ filename => shift, quiet => 1 }); my $n = shift;
    my @subs = sort { $b->excl_time <=> $a->excl_time } values %{ $p->subname_subinfo_map };
    for (grep { $_->calls } @subs) { last unless $n--; printf qq{%9.3f ms %9.3f ms %8d  %s\\n}, $_->excl_time * 1e3, $_->incl_time * 1e3, $_->calls, $_->subname }";

/// A request to the profiled server.
pub struct ProfiledRequest<'a> {
    /// An absolute URL, or a path on the server.
    pub url: &'a str,
    /// Bytes of the whole request, after which the server must close the connection; `None`: a GET of the URL.
    pub bytes: Option<Vec<u8>>,
}

/// Profiles one request, writes HTML pages to `into`, and returns a summary.
pub fn profile(conf: &Conf, profiled: &ProfiledRequest<'_>, into: &Path) -> anyhow::Result<String> {
    let has_module = Command::new("perl").args(["-MDevel::NYTProf::Data", "-e", "1"]).output()?.status.success();
    ensure!(has_module, "Devel::NYTProf is not installed; apt-get install libdevel-nytprof-perl");
    let folder = tempfile::Builder::new().prefix("cameleer-exact-").tempdir()?;
    let (output, file) = request(conf, profiled, folder.path())?;
    ensure!(file.exists(), "the profiled server wrote no profile: its worker was killed first");
    run(Command::new("nytprofhtml").arg("--no-flame").arg("-f").arg(&file).arg("-o").arg(into))?;
    let top = run(Command::new("perl").args(["-e", TOP]).arg(&file).arg(SHOWN.to_string()))?;
    let pages = into.join("index.html");
    let url = profiled.url;
    Ok(format!("{url}: {output}\n\n      self           all    calls  sub\n{top}\nline by line: {}\n", pages.display()))
}

/// Starts a server that times each statement, and sends the request. Returns the status line, and the profile that
/// the worker writes at its end. The mold writes a separate profile without the request.
fn request(conf: &Conf, profiled: &ProfiledRequest<'_>, folder: &Path) -> anyhow::Result<(String, PathBuf)> {
    let url = profiled.url;
    let interrupt = InterruptGuard::new()?;
    let site = TunedSite::of(conf, Some(url))?;
    ensure!(!site.target.tls, "{url}: TLS is not supported; name a URL that the site answers without TLS");
    // The mold and the worker write their profiles as User.
    let (user, group) = (site.config.user.as_deref(), site.config.group.as_deref());
    if let Some(account) = privileges::account(user, group)? {
        chown(folder, Some(account.uid), Some(account.gid)).with_context(|| folder.display().to_string())?;
    }
    let instead: Vec<_> = INSTEAD.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    let file = folder.join("profile").display().to_string();
    let env = [("PERL5OPT", "-d:NYTProf".to_owned()), ("NYTPROF", format!("addpid=1:sigexit=term,int:file={file}"))];
    let mut shadow = Shadow::start_in(&site, &instead, &env, &interrupt)?;
    let path = url.split_once("://").map_or(url, |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
    let mut stream = TcpStream::connect(shadow.address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    match &profiled.bytes {
        Some(bytes) => stream.write_all(bytes)?,
        None => write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", site.target.authority)?,
    }
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).context("the profiled server did not answer")?;
    let first = answer.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let status = String::from_utf8_lossy(first).trim_end().to_owned();
    let worker = shadow.status()?.workers().first().map_or(0, |worker| worker.pid);
    shadow.stop()?;
    // `addpid=1` appends the pid to the file name.
    Ok((status, PathBuf::from(format!("{file}.{worker}"))))
}

fn run(command: &mut Command) -> anyhow::Result<String> {
    let done = command.output().with_context(|| format!("{:?} cannot be run", command.get_program()))?;
    if !done.status.success() {
        bail!("{:?} failed:\n{}", command.get_program(), String::from_utf8_lossy(&done.stderr).trim_end());
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
