//! What Perl reads by GTop, which Apache::SizeLimit, GTopLimit and VMonitor go by, is what `cameleer mem` says.

use super::{conf, has_pid, measured, number, of_role};
use crate::support::{Server, Site, until};

/// What one worker reads of the other, which is idle.
const APP: &str = "use GTop; my @data = map { 'x' x 1000 } 1 .. 5000;\n\
    sub { my ($pid) = $_[0]{PATH_INFO} =~ /(\\d+)/; my $m = GTop->new->proc_mem($pid || $$);\n\
      [200, [], [join ' ', $$, map { $m->$_ // 'undef' } qw(size share private pss)]] }";

#[test]
fn gtop_in_a_worker_and_cameleer_mem_say_the_same_of_a_process() {
    let server = Site::new().file("app.psgi", APP).serve(&conf(2));
    server.until_idle(2);
    server.text("/");
    // Who else has mapped the same files counts, too, other tests' servers for instance: both are asked again.
    until("both say the same of a worker", || {
        let asked =
            server.workers().into_iter().find_map(|(pid, _)| read_by_the_other(&server, pid).map(|read| (pid, read)));
        asked.is_some_and(|(pid, [size, share, private, pss])| {
            let said = measured(&server);
            let workers = of_role(&said, "worker");
            let sizes = &workers.iter().find(|worker| has_pid(worker, &pid.to_string())).expect("it is there")["sizes"];
            let ours = ["rss", "shared", "private"].map(|name| number(&sizes[name]));
            [size, share, private] == ours && pss.abs_diff(number(&sizes["pss"])) < pss / 50
        })
    });
}

/// Size, share, private and PSS; nothing when the worker itself has answered.
fn read_by_the_other(server: &Server, pid: i32) -> Option<[u64; 4]> {
    let text = server.text(&format!("/{pid}"));
    let (by, read) = text.split_once(' ').expect("who has read it");
    let numbers: Vec<u64> = read.split(' ').map(|word| word.parse().expect("a number")).collect();
    (by != pid.to_string()).then(|| numbers.try_into().expect("four numbers"))
}
