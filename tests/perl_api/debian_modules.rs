//! Modules from perl or Debian that the documents name, used by scripts under the server.

use crate::support::{REGISTRY, Server, Site};

/// Serves each script as /perl/NUMBER.pl. The script's output follows a text/plain head.
#[track_caller]
fn serve(site: Site, scripts: &[&str], conf: &str) -> Server {
    let site = scripts.iter().enumerate().fold(site, |site, (number, code)| {
        site.script(&format!("scripts/{number}.pl"), &format!("print \"Content-Type: text/plain\\n\\n\";\n{code}\n"))
    });
    site.serve(&format!("{conf}{REGISTRY}"))
}

/// Pairs of a script and its output at every request.
const CASES: &[(&str, &str)] = &[
    (
        "use Storable qw(freeze thaw lock_store lock_retrieve); my $kept = thaw freeze { list => [ 1, 2 ] }; \
         lock_store $kept, '@DIR@/kept'; print \"@{ lock_retrieve('@DIR@/kept')->{list} }\";",
        "1 2",
    ),
    (
        "use FreezeThaw qw(freeze thaw); my ($kept) = thaw freeze { list => [ 1, 2 ] }; print \"@{ $kept->{list} }\";",
        "1 2",
    ),
    (
        "use Benchmark; my $n = 0; my $took = timeit 5, sub { $n++ }; print ref $took, ' ', $n >= 5, ' ', timestr($took) =~ /wallclock/ ? 'told' : '';",
        "Benchmark 1 told",
    ),
    (
        "use Time::HiRes qw(gettimeofday tv_interval); my $begun = [gettimeofday]; Time::HiRes::sleep(0.02); \
         my $took = tv_interval($begun); print $took >= 0.02 ? 'slept' : $took;",
        "slept",
    ),
    ("use POSIX (); print POSIX::floor(2.7), POSIX::strftime('%Y', gmtime 0);", "21970"),
    (
        "use IPC::Open2; my $kid = open2 my $from, my $to, 'tr', 'a-z', 'A-Z'; print $to 'both ways'; close $to; print <$from>; waitpid $kid, 0;",
        "BOTH WAYS",
    ),
    (
        "use B::Terse (); my $sub = B::Terse::compile('-exec', 'main::counted'); sub main::counted { return 1 } \
         my $text = ''; B::Concise::walk_output(\\$text); $sub->(); print $text =~ /leavesub/ ? 'walked' : $text;",
        "walked",
    ),
    (
        "use Devel::Symdump; print grep { $_ eq 'main::counted' } Devel::Symdump->new('main')->functions;",
        "main::counted",
    ),
    ("use CGI (); print CGI->new('a=1&a=2')->multi_param('a'), CGI::escapeHTML('<');", "12&lt;"),
    ("use CGI qw(-compile :standard); print b('bold');", "<b>bold</b>"),
];

#[test]
fn each_debian_module_works_in_repeated_requests() {
    let scripts: Vec<&str> = CASES.iter().map(|(script, _)| *script).collect();
    let server = serve(Site::new(), &scripts, "");
    for _ in 0..2 {
        for (number, (script, expected)) in CASES.iter().enumerate() {
            assert_eq!(server.text(&format!("/perl/{number}.pl")), *expected, "{script}");
        }
    }
}

#[test]
fn code_compiled_at_the_start_exists_in_every_worker() {
    let start = "use CGI (); CGI->compile(':all'); use DBI (); \
        DBI->install_driver('SQLite'); $main::start = $$; 1;";
    let script = "my $dbh = DBI->connect('dbi:SQLite:dbname=@DIR@/t.db', '', '', { RaiseError => 1 }); \
        $dbh->do('create table if not exists t (name text, n int)'); $dbh->do('delete from t'); \
        my $put = $dbh->prepare_cached('insert into t values (?, ?)'); $put->execute(@$_) for ['a', 1], ['b', 2]; \
        my $all = $dbh->prepare_cached('select name, n from t order by n'); $all->execute; \
        $all->bind_columns(\\my ($name, $n)); print \"$name$n\" while $all->fetch; \
        print $put == $dbh->prepare_cached('insert into t values (?, ?)') ? ' cached' : ' new'; \
        print ' ', $main::start == $$ ? 'here' : 'before', ' ', defined $INC{'DBD/SQLite.pm'} ? 'driver' : 'none';";
    let server = serve(Site::new().file("startup.pl", start), &[script], "PerlRequire startup.pl\n");
    assert_eq!(server.text("/perl/0.pl"), "a1b2 cached before driver");
}
