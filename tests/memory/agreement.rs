//! What Perl reads by GTop, which Apache::SizeLimit, GTopLimit and VMonitor go by, is what `cameleer mem` says.

use super::{conf, measured, number, of_role};
use crate::support::{Site, eventually};

#[test]
fn gtop_in_a_worker_and_cameleer_mem_say_the_same_of_a_process() {
    let app = "use GTop; my @data = map { 'x' x 1000 } 1 .. 5000;\n\
        sub { my ($pid) = $_[0]{PATH_INFO} =~ /(\\d+)/; my $m = GTop->new->proc_mem($pid || $$);\n\
          [200, [], [join ' ', $$, map { $m->$_ // 'undef' } qw(size share private pss)]] }";
    let server = Site::new().file("app.psgi", app).serve(&conf(2));
    server.until_idle(2);
    server.text("/");
    let (idle, asked) = eventually("one worker looks at the other", || {
        let pids: Vec<i32> = server.workers().into_iter().map(|(pid, _)| pid).collect();
        let looks = |pid: &i32| {
            server.text(&format!("/{pid}")).split_once(' ').map(|(by, said)| (by.to_owned(), said.to_owned()))
        };
        pids.iter().find_map(|pid| looks(pid).filter(|(by, _)| *by != pid.to_string()).map(|(_, said)| (*pid, said)))
    });
    let said = measured(&server);
    let worker = of_role(&said, "worker").into_iter().find(|worker| worker["pid"] == idle).expect("it is there");
    let sizes = &worker["sizes"];
    let ours = ["rss", "shared", "private"].map(|name| number(&sizes[name]).to_string()).join(" ");
    let (theirs, pss) = asked.rsplit_once(' ').expect("four numbers");
    assert_eq!(theirs, ours, "size, share and private of process {idle}");
    // What others do to pages that it shares with them may change its part of these meanwhile.
    let (theirs, ours) = (pss.parse::<u64>().expect("a number"), number(&sizes["pss"]));
    assert!(theirs.abs_diff(ours) < ours / 20, "{theirs} {ours}");
}
