//! GTop.

use super::{URL, script};

/// The numbers after each name in lines `name=number`.
fn numbers(text: &str) -> std::collections::HashMap<String, i64> {
    text.lines().filter_map(|line| line.split_once('=')).map(|(k, v)| (k.into(), v.parse().unwrap_or(-1))).collect()
}

#[test]
fn a_workers_memory_adds_up() {
    let server = script(
        "use GTop; my $m = GTop->new->proc_mem($$); printf \"%s=%d\\n\", $_, $m->$_($$) for qw(size vsize share rss resident pss private);",
        "PerlModule GTop",
    );
    let n = numbers(&server.text(URL));
    assert_eq!((n["size"], n["size"]), (n["rss"], n["resident"]));
    assert!(n["share"] > 1 << 20, "the mold's pages are shared: {n:?}");
    assert!(n["share"] < n["size"] && n["size"] < n["vsize"], "{n:?}");
    assert_eq!(n["private"], n["size"] - n["share"]);
    assert!(n["private"] < n["pss"] && n["pss"] < n["size"], "a fair share lies between: {n:?}");
}

#[test]
fn memory_allocated_by_a_request_shows_as_unshared() {
    let server = script(
        "use GTop; my $g = GTop->new; my ($a, $s) = map { $_->size, $_->share } $g->proc_mem($$); my $x = 'x' x 8e6; my $m = $g->proc_mem($$);\
         printf \"grown=%d\\nshared=%d\\n\", $m->size - $a, $m->share - $s;",
        "PerlModule GTop",
    );
    let n = numbers(&server.text(URL));
    assert!(n["grown"] >= 8_000_000, "{n:?}");
    assert!(n["shared"] < 1_000_000, "{n:?}");
}

#[test]
fn gtop_reports_memory_cpu_and_process_fields() {
    let server = script(
        "use GTop; my $g = GTop->new; my $m = $g->mem; my $c = $g->cpu; my $u = $g->proc_uid($$);\
         printf \"%s=%d\\n\", @$_ for ([sum => $m->used + $m->free], [total => $m->total], [share => $m->share], [shared => $m->shared],\
         [cpu => $c->user + $c->nice + $c->sys + $c->idle], [cputotal => $c->total], [uid => $u->uid], [me => $<], [ppid => $u->ppid], [parent => getppid],\
         [up => $g->uptime->uptime], [age => time - $g->proc_time($$)->start_time], [none => $g->proc_mem(4194305)->size]);\
         print 'cmd ', $g->proc_state($$)->cmd, \"\\n\", join(' ', map { GTop::size_string($_) } 0, 10, 2048, 1572864, 209715200), \"\\n\"; print eval { $g->mem->nonsense } // $@;",
        "",
    );
    let text = server.text(URL);
    let n = numbers(&text);
    assert_eq!((n["sum"], n["shared"], n["cputotal"]), (n["total"], n["share"], n["cpu"]));
    assert_eq!((n["uid"], n["ppid"], n["none"]), (n["me"], n["parent"], 0));
    assert!(n["up"] > 0 && (0..60).contains(&n["age"]), "{n:?}");
    assert!(text.contains("cmd cameleer: worke"), "{text}");
    assert!(text.contains("0k 1k 2k 1.5M 200M\n"), "{text}");
    assert!(text.contains("GTop has no field nonsense here"), "{text}");
}
