//! GTop's figures in Perl, on which Apache::SizeLimit, GTopLimit and VMonitor rely, equal those of `cameleer mem`.

use super::{conf, has_pid, measured, number, of_role};
use crate::support::{Server, Site, until};

/// An application in which one worker reads the memory of the other, idle worker.
const APP: &str = "use GTop; my @data = map { 'x' x 1000 } 1 .. 5000;\n\
    sub { my ($pid) = $_[0]{PATH_INFO} =~ /(\\d+)/; my $m = GTop->new->proc_mem($pid || $$);\n\
      [200, [], [join ' ', $$, map { $m->$_ // 'undef' } qw(size share private pss)]] }";

#[test]
fn gtop_in_a_worker_equals_cameleer_mem() {
    let server = Site::new().file("app.psgi", APP).serve(&conf(2));
    server.until_idle(2);
    server.text("/");
    // Other processes that map the same files, such as servers of other tests, change the figures. Both are read again
    // until they agree.
    until("both say the same of a worker", || {
        let figures =
            server.workers().into_iter().find_map(|(pid, _)| read_by_the_other(&server, pid).map(|read| (pid, read)));
        figures.is_some_and(|(pid, [size, share, private, pss])| {
            let metrics = measured(&server);
            let workers = of_role(&metrics, "worker");
            let sizes = &workers.iter().find(|worker| has_pid(worker, &pid.to_string())).expect("it is there")["sizes"];
            let ours = ["rss", "shared", "private"].map(|name| number(&sizes[name]));
            [size, share, private] == ours && pss.abs_diff(number(&sizes["pss"])) < pss / 50
        })
    });
}

/// Size, share, private and PSS; `None` when the worker `pid` itself has served the request.
fn read_by_the_other(server: &Server, pid: i32) -> Option<[u64; 4]> {
    let text = server.text(&format!("/{pid}"));
    let (by, read) = text.split_once(' ').expect("who has read it");
    let numbers: Vec<u64> = read.split(' ').map(|word| word.parse().expect("a number")).collect();
    (by != pid.to_string()).then(|| numbers.try_into().expect("four numbers"))
}
