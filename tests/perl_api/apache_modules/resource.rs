//! Apache::Resource.

use super::{URL, script};
use crate::support::Server;

const LIMITS: &str = "use BSD::Resource; print join ' ', map { my ($s, $h) = getrlimit(get_rlimits()->{\"RLIMIT_$_\"}); \"$_=$s:$h\" } qw(CPU DATA FSIZE CORE NOFILE STACK AS);";

fn limits(conf: &str) -> Server {
    script(
        LIMITS,
        &format!(
            "{conf}\nPerlModule Apache::Resource\nPerlEval \"Apache->push_handlers(PerlChildInitHandler => 'Apache::Resource')\""
        ),
    )
}

#[test]
fn soft_and_hard_limits_of_a_worker() {
    let server = limits(
        "PerlSetEnv PERL_RLIMIT_CPU 120\nPerlSetEnv PERL_RLIMIT_FSIZE 10:20\nPerlSetEnv PERL_RLIMIT_DATA 536870912\nPerlSetEnv PERL_RLIMIT_NOFILE 200:300\nPerlSetEnv PERL_RLIMIT_CORE 0",
    );
    let text = server.text(URL);
    for limit in ["CPU=120:120", "FSIZE=10485760:20971520", "DATA=536870912:536870912", "NOFILE=200:300", "CORE=0:0"] {
        assert!(text.contains(limit), "{limit} in {text}");
    }
    assert!(!server.log().contains("Apache::Resource"), "{}", server.log());
}

#[test]
fn perl_rlimit_defaults_sets_limits_that_explicit_ones_replace() {
    let text =
        limits("PerlSetEnv PERL_RLIMIT_DEFAULTS On\nPerlSetEnv PERL_RLIMIT_AS 500\nPerlSetEnv PERL_RLIMIT_DATA 400")
            .text(URL);
    for limit in
        ["CPU=360:360", "FSIZE=10485760:10485760", "STACK=20971520:20971520", "CORE=0:0", "AS=524288000:524288000"]
    {
        assert!(text.contains(limit), "{limit} in {text}");
    }
}

#[test]
fn debug_and_mistakes_are_logged() {
    let server = limits(
        "PerlEval \"$Apache::Resource::Debug = 1\"\nPerlSetEnv PERL_RLIMIT_CPU 77\nPerlSetEnv PERL_RLIMIT_FSIZE many\nPerlSetEnv PERL_RLIMIT_NONSENSE 1",
    );
    server.text(URL);
    server.logged("RLIMIT_CPU soft=77 hard=77");
    server.logged("PERL_RLIMIT_FSIZE: expected S or S:H, numbers or unlimited, got \"many\"");
    server.logged("there is no RLIMIT_NONSENSE on this system");
}

#[test]
fn a_worker_over_its_address_space_dies_and_is_replaced() {
    let server = script(
        "if ($r->args) { my @all; push @all, 'x' x 1e7 while 1 } print $$;",
        "PerlSetEnv PERL_RLIMIT_AS 100663296\nPerlModule Apache::Resource\nPerlChildInitHandler Apache::Resource",
    );
    let first = server.text(URL);
    let status = server.get(&format!("{URL}?eat")).status;
    assert!([500, 502].contains(&status), "{status}");
    server.logged("Out of memory");
    assert_ne!(server.text(URL), first, "another worker answers");
}
