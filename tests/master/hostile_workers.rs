//! Malicious workers and molds: the limits of their sockets, their user, and the pids that they name.

use std::process::{Child, Command};

use crate::support::{Server, Site, alive, children, until};

fn serve(app: &str, conf: &str) -> Server {
    let pool = "StartServers 1\nMinSpareServers 1\nMaxSpareServers 1\nMaxClients 1";
    Site::new().file("app.psgi", app).serve(&format!("{pool}\n<Location />\nPsgiApp app.psgi\n</Location>\n{conf}"))
}

fn front_of(server: &Server) -> i32 {
    let is_front = |pid: &i32| {
        std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.starts_with(b"cameleer:\0front"))
    };
    children(server.pid()).into_iter().find(is_front).expect("a front")
}

#[test]
fn a_worker_cannot_look_into_the_front_though_both_are_of_one_user() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let app = "sub { my $pid = $_[0]{QUERY_STRING};
        my @open = grep { open my $f, '<', \"/proc/$pid/$_\" } qw(environ maps mem);
        my @fds = glob \"/proc/$pid/fd/*\";
        [200, [], [join ' ', $>, 'open:', @open, 'fds:', scalar @fds]] }";
    let server = serve(app, "User nobody\nGroup nogroup");
    let body = server.text(&format!("/?{}", front_of(&server)));
    assert!(body.ends_with(" open: fds: 0") && !body.starts_with("0 "), "{body}");
    // The worker can open these files of its own process, so the probe works.
    let own = server.text(&format!("/?{}", server.workers()[0].0));
    assert!(own.contains("open: environ maps mem"), "{own}");
}

#[test]
fn a_worker_that_shuts_its_socket_and_stays_does_not_keep_its_place() {
    let server = serve(
        "sub { if ($_[0]{PATH_INFO} eq '/shut') {
                 for my $fd (3 .. 60) { -S \"/proc/self/fd/$fd\" or next; open my $s, '>&=', $fd or next; shutdown $s, 1 }
               } [200, [], [$$]] }",
        "",
    );
    let pid: i32 = server.text("/").parse().expect("a pid");
    // The response that the worker left in memory may still be found there.
    assert!(matches!(server.get("/shut").status, 200 | 502));
    assert_ne!(server.text("/"), pid.to_string());
    until("the worker has ended", || !alive(pid));
}

/// A process that is killed on drop.
struct Bystander(Child);

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_mold_that_reports_a_foreign_process_as_worker_is_replaced() {
    let bystander = Bystander(Command::new("sleep").arg("600").spawn().expect("started"));
    let pid = bystander.0.id();
    let startup = format!(
        "unless (fork // die) {{
             open my $master, '>&=', 3 or die;
             my $mold = getppid;
             while (getppid == $mold) {{
                 if (unlink '@DIR@/lie') {{
                     send $master, '.{{\"Forked\":{{\"slot\":0,\"pid\":{pid}}}}}', 0;
                     last;
                 }}
                 select undef, undef, undef, 0.01;
             }}
             require POSIX;
             POSIX::_exit(0);
         }}
         1;"
    );
    let server = Site::new()
        .file("startup.pl", &startup)
        .file("app.psgi", "sub { [200, [], [$$]] }")
        .serve("StartServers 1\nMaxClients 1\nPerlRequire startup.pl\n<Location />\nPsgiApp app.psgi\n</Location>");
    let worker = server.text("/");
    server.site.write("lie", "");
    server.logged(&format!("reported pid={pid}, which is not its child, as a worker, and is killed"));
    assert_eq!(server.text("/"), worker);
    assert!(alive(pid.cast_signed()));
}
