//! `cameleer profile --exact`: one request under Devel::NYTProf, which times each statement, in a server of its own: the one that runs is not touched.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use toolkit::conf::Conf;
use tune::{Interrupt, Shadow, Site};

/// A request that is timed statement by statement takes many times as long.
const PATIENCE: Duration = Duration::from_secs(600);
/// What the profiled server says instead of its configuration: one worker, which nobody looks at or ends.
const INSTEAD: [(&str, &str); 7] = [
    ("StartServers", "1"),
    ("MinSpareServers", "1"),
    ("MaxSpareServers", "1"),
    ("MaxClients", "1"),
    ("MemoryBudget", "off"),
    ("RequestTimeout", "0"),
    ("SlowLog", "off"),
];
/// Of subs, so many are shown.
const SHOWN: u32 = 20;
/// Prints the subs that took most themselves, from the file that is its argument.
const TOP: &str = "use Devel::NYTProf::Data; my $p = Devel::NYTProf::Data->new({ filename => shift, quiet => 1 }); my $n = shift;
    my @subs = sort { $b->excl_time <=> $a->excl_time } values %{ $p->subname_subinfo_map };
    for (grep { $_->calls } @subs) { last unless $n--; printf qq{%9.3f ms %9.3f ms %8d  %s\\n}, $_->excl_time * 1e3, $_->incl_time * 1e3, $_->calls, $_->subname }";

/// Profiles one request, writes the pages to `into`, and says what took most.
pub fn profile(conf: &Conf, url: &str, into: &Path) -> anyhow::Result<String> {
    let has_module = Command::new("perl").args(["-MDevel::NYTProf::Data", "-e", "1"]).output()?.status.success();
    ensure!(has_module, "Devel::NYTProf is not installed: apt-get install libdevel-nytprof-perl");
    let folder = tempfile::Builder::new().prefix("cameleer-exact-").tempdir()?;
    let (said, file) = ask(conf, url, folder.path())?;
    ensure!(file.exists(), "the profiled server wrote no profile: its worker was killed before it could");
    run(Command::new("nytprofhtml").arg("--no-flame").arg("-f").arg(&file).arg("-o").arg(into))?;
    let top = run(Command::new("perl").args(["-e", TOP]).arg(&file).arg(SHOWN.to_string()))?;
    let pages = into.join("index.html");
    Ok(format!("{url}: {said}\n\n      self           all    calls  sub\n{top}\nline by line: {}\n", pages.display()))
}

/// Serves the site once more, with every statement timed, and asks that server for the page: its status line, and the file that its
/// worker writes at its end. The mold writes a file of its own, which has no request.
fn ask(conf: &Conf, url: &str, folder: &Path) -> anyhow::Result<(String, PathBuf)> {
    let interrupt = Interrupt::new()?;
    let site = Site::of(conf, Some(url))?;
    ensure!(!site.target.tls, "{url}: asks by TLS; name a URL that the site answers without");
    let instead: Vec<_> = INSTEAD.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    let file = folder.join("profile").display().to_string();
    let env = [("PERL5OPT", "-d:NYTProf".to_owned()), ("NYTPROF", format!("addpid=1:sigexit=term,int:file={file}"))];
    let mut shadow = Shadow::start_in(&site, &instead, &env, &interrupt)?;
    let path = url.split_once("://").map_or(url, |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
    let mut stream = TcpStream::connect(shadow.address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", site.target.authority)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).context("the profiled server did not answer")?;
    let first = answer.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let status = String::from_utf8_lossy(first).trim_end().to_owned();
    let worker = shadow.status()?.workers().first().map_or(0, |worker| worker.pid);
    shadow.stop()?;
    // `addpid=1` puts the process behind the name.
    Ok((status, PathBuf::from(format!("{file}.{worker}"))))
}

fn run(command: &mut Command) -> anyhow::Result<String> {
    let done = command.output().with_context(|| format!("{:?} cannot be run", command.get_program()))?;
    if !done.status.success() {
        bail!("{:?} failed:\n{}", command.get_program(), String::from_utf8_lossy(&done.stderr).trim_end());
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
