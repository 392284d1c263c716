//! Apache::Scoreboard and Apache::VMonitor.

use super::CONF;
use crate::support::{Request, Server, Site, until};

const LIST: &str = "my $r = shift; $r->send_http_header('text/plain'); use Apache::Scoreboard;
my $image = Apache::Scoreboard->image or do { print 'none'; exit };
die 'far' if eval { Apache::Scoreboard->fetch('http://far/') } || !Apache::Scoreboard->fetch;
print \"me $$\\n\";
for (my $p = $image->parent; $p; $p = $p->next) { my $s = $p->server; print join(' ', $s->pid, $s->status, $s->access_count, $s->request), \"\\n\" }
print 'index ', $image->parent_idx_by_pid($$), ' of ', scalar @{ $image->pids }, ' kept ', $image->kept, ' ', map({ $_->{served} } $image->kept_clients), ' front ', $image->front_pid;";

fn serve(conf: &str) -> Server {
    Site::new().script("scripts/list.pl", LIST).serve(&format!(
        "{}\n{conf}\n<Location /vmonitor>\nSetHandler perl-script\nPerlHandler Apache::VMonitor\n</Location>",
        CONF.replace("StartServers 1", "StartServers 2").replace("MaxClients 1", "MaxClients 2")
    ))
}

#[test]
fn a_worker_sees_itself_and_the_others() {
    let server = serve("");
    server.until_idle(2);
    let text = server.text("/perl/list.pl");
    let me = text.lines().next().and_then(|line| line.strip_prefix("me ")).expect("a pid");
    let rows: Vec<&str> = text.lines().skip(1).take(2).collect();
    assert!(rows.contains(&format!("{me} W 0 GET /perl/list.pl").as_str()), "{text}");
    assert!(rows.iter().any(|row| row.ends_with(" _ 0 ")), "{text}");
    assert!(text.contains(" of 2 kept 0 "), "{text}");
    let front = server.status()["front_pid"].as_i64().expect("a pid");
    assert!(text.ends_with(&format!("front {front}")), "{text}");
}

#[test]
fn a_connection_that_is_kept_alive_is_in_state_k_and_holds_no_worker() {
    let server = serve("KeepAlive On\nKeepAliveTimeout 100");
    let mut idle = server.connect();
    assert_eq!(idle.ask(Request::get("/perl/list.pl")).status, 200);
    until("the answer was flushed", || server.text("/perl/list.pl").contains("kept 1 1 "));
    let page = server.text("/vmonitor");
    assert!(page.contains("connections are kept alive\nK 127.0.0.1:"), "{page}");
    assert_eq!(server.workers().iter().filter(|(_, state)| state == "Busy").count(), 0);
}

/// The total `name` on the page, in kilobytes.
fn total(page: &str, name: &str) -> u64 {
    let line = page.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name} in {page}"));
    let number = line.rsplit(':').next().and_then(|rest| rest.trim().split('K').next());
    number.and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{line}"))
}

#[test]
fn the_monitor_shows_processes_and_their_memory_by_both_formulas() {
    let server = serve("");
    server.until_idle(2);
    let page = server.text("/vmonitor");
    for role in ["<td>worker 0</td>", "<td>worker 1</td>", "<td>master</td>", "<td>front</td>", "<td>mold</td>"] {
        assert!(page.contains(role), "{role} in {page}");
    }
    assert!(
        page.contains("<td>W</td>") && page.contains("<td>_</td>") && page.contains("GET /vmonitor</td>"),
        "{page}"
    );
    let (size, real, pss) = (total(&page, "Total size"), total(&page, "sum(size-share)"), total(&page, "by PSS"));
    assert!(pss > 1000 && pss < size && real < size, "{size} {real} {pss}");
    assert!(page.contains("Mem:  total ") && page.contains("load "), "{page}");
}

#[test]
fn as_many_workers_fit_as_the_documents_calculate() {
    let cases =
        [("400, 10", "40"), ("500, 10", "50"), ("500, 10, 4", "82"), ("500, 10, 8", "246"), ("500, 10, 10", "none")];
    let list = cases.map(|(arguments, _)| format!("Apache::VMonitor::max_clients({arguments}) // 'none'")).join(",");
    let script = super::script(&format!("use Apache::VMonitor (); print join ' ', {list};"), "");
    assert_eq!(script.text(super::URL), cases.map(|(_, fit)| fit).join(" "));
    let page = serve("").text("/vmonitor");
    let line = page.lines().find(|line| line.contains("MaxClients by")).unwrap_or_else(|| panic!("{page}"));
    let fit = line.trim_end_matches("</pre>").rsplit(' ').next().and_then(|number| number.parse::<u64>().ok());
    assert!(fit.is_some_and(|fit| fit > 0), "{line}");
}

#[test]
fn paths_of_clients_are_escaped() {
    let server = serve("");
    let page = server.send(Request::get("/vmonitor/%3Cscript%3E")).text();
    assert!(page.contains("GET /vmonitor/&lt;script&gt;"), "{page}");
}

#[test]
fn processes_of_other_users_learn_nothing() {
    let server = serve("User nobody\nGroup nogroup");
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    assert!(server.text("/perl/list.pl").contains("W 0 GET"), "the workers' own user does");
    let ask = format!(
        "use Socket; socket my $s, AF_UNIX, SOCK_STREAM, 0; connect $s, pack_sockaddr_un(join '/', \"\\0cameleer\", readlink('/proc/self/ns/pid'), {}) or die $!; print 'got ', scalar <$s>",
        server.pid()
    );
    let output_as = |user: &str| {
        let output = std::process::Command::new("setpriv")
            .args(["--reuid", user, "--clear-groups", "perl", "-e", &ask])
            .output()
            .expect("setpriv");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(output_as("nobody").starts_with("got {"), "{}", output_as("nobody"));
    assert_eq!(output_as("daemon"), "got ");
}

#[test]
fn the_one_process_of_dash_x_has_a_scoreboard_too() {
    let site = Site::new().script("scripts/list.pl", LIST);
    site.configure(CONF);
    let mut command = site.serve_command();
    command.arg("-X");
    let mut server = Server::start(site, command);
    let text = server.text("/perl/list.pl");
    assert!(text.contains(&format!("{} W 0 GET /perl/list.pl", server.pid())), "{text}");
    server.signal(nix::sys::signal::Signal::SIGTERM);
    server.wait();
}
