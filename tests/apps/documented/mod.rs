//! A site as the mod_perl 1 literature describes it: one httpd.conf, one startup.pl, many idioms at once.

mod listings;

use std::os::unix::fs::symlink;

use crate::support::{Request, Server, Site};

/// Reads the request's arguments in three ways.
const FORM: &str = r#"use strict;
use Apache::Request ();
use CGI ();
my $r = shift;
$r->send_http_header('text/plain');
my %args = $r->args;
my $parsed = Apache::Request->new($r);
my @all = $parsed->param('toy');
my $q = CGI->new;
print join '|', $r->method, $args{toy} // '', "@all", join ' ', $q->multi_param('toy');
"#;

/// Starts a child that outlives its request, without the sockets of the client and the server.
const FORK: &str = r#"use strict;
use POSIX 'setsid';
use Apache::SubProcess;
my $r = shift;
$r->send_http_header('text/plain');
$SIG{CHLD} = 'IGNORE';
defined( my $kid = fork ) or die "fork: $!";
if ($kid) {
    print "kid $kid";
}
else {
    $r->cleanup_for_exec;
    chdir '/' or die "chdir: $!";
    open STDIN,  '<', '/dev/null' or die $!;
    open STDOUT, '>', '/dev/null' or die $!;
    open STDERR, '>', '@DIR@/kid.log' or die $!;
    setsid or die "setsid: $!";
    my @sockets = grep { ( readlink($_) // '' ) =~ /^socket:/ } glob "/proc/$$/fd/*";
    warn 'sockets left: ' . @sockets . "\n";
    CORE::exit(0);
}
"#;

const DATABASE: &str = r#"use strict;
use DBI ();
my $r = shift;
$r->send_http_header('text/plain');
my $dbh = DBI->connect( 'dbi:SQLite:dbname=@DIR@/shop.db', '', '', { RaiseError => 1, AutoCommit => 1 } );
print ref $dbh, ' ', $dbh->selectrow_array('select 6 * 7');
$dbh->disconnect;
print ' ', $dbh->ping ? 'alive' : 'gone';
"#;

/// Counts the requests of its worker.
const COUNT: &str = "use vars '$n';\nprint \"Content-type: text/plain\\r\\n\\r\\n\";\nprint ++$n;\n";

/// Prints memory sizes and limits, and runs a cleanup after the response.
const SIZES: &str = r#"use GTop ();
my $r = shift;
$r->register_cleanup( sub { warn "swept\n" } );
$r->send_http_header('text/plain');
my $mem = GTop->new->proc_mem($$);
print $mem->size > $mem->share && $mem->share > 0 ? 'sizes' : 'none', ' ', (getrlimit_core());
sub getrlimit_core { require BSD::Resource; join ':', BSD::Resource::getrlimit( BSD::Resource::RLIMIT_CPU() ) }
"#;

fn serve() -> Server {
    let site = Site::new()
        .file("conf/startup.pl", include_str!("startup.pl"))
        .file("lib/Shop/Prices.pm", include_str!("Prices.pm"))
        .script("perl/form.pl", FORM)
        .script("perl/fork.pl", FORK)
        .script("perl/database.pl", DATABASE)
        .script("perl/deep/count.pl", COUNT)
        .script("perl/secret/plans.pl", COUNT)
        .script("perl/sizes.pl", SIZES)
        .file("htdocs/long.page", &"so it goes ".repeat(1000));
    symlink(site.path("perl/deep/count.pl"), site.path("perl/count.pl")).expect("linked");
    site.serve(include_str!("httpd.conf"))
}

#[test]
fn start_up_preloads_every_script_and_limits_every_child() {
    let server = serve();
    for name in ["form", "fork", "database", "deep/count", "sizes"] {
        server.logged(&format!("preloaded /perl/{name}.pl: 200"));
    }
    assert_eq!(server.text("/perl/sizes.pl"), "sizes 120:240");
    server.logged("swept");
    server.logged("timing request for /perl/sizes.pl");
}

#[test]
fn forms_are_read_by_args_by_request_and_by_cgi() {
    let server = serve();
    assert_eq!(server.text("/perl/form.pl?toy=top&toy=kite"), "GET|kite|top kite|top kite");
    assert_eq!(server.text("/order?toy=ball"), "GET|ball|ball|ball");
    server.send(Request::new("PUT", "/perl/form.pl").body("x")).is(403);
    let posted = server.post("/perl/form.pl", "toy=drum").is(200).text();
    assert!(posted.starts_with("POST||drum|"), "{posted}");
}

#[test]
fn one_script_under_two_names_is_two_packages_and_perl_run_retains_no_variables() {
    let server = serve();
    server.get("/perl/secret/plans.pl").is(403);
    assert_eq!([server.text("/run/deep/count.pl"), server.text("/run/deep/count.pl")], ["1", "1"]);
    // With two workers the third request meets one of them again.
    let counts: Vec<String> = (0..3).map(|_| server.text("/perl/count.pl")).collect();
    assert!(counts.iter().any(|count| count != "1"), "{counts:?}");
    let shown = || server.text("/perl-status?rgysubs");
    crate::support::until("a worker shows both names", || {
        server.text("/perl/count.pl");
        let page = shown();
        page.contains("Apache::ROOT::perl::deep::count_2epl<") && page.contains("Apache::ROOT::perl::count_2epl<")
    });
}

#[test]
fn handlers_find_shared_data_and_what_their_child_reserved() {
    let server = serve();
    assert_eq!(server.text("/tariff/now"), "/tariff/now 2000 EUR reserved");
    let bare = server.text("/bare");
    let names: Vec<&str> = bare.lines().filter_map(|line| line.split('=').next()).collect();
    assert!(!names.contains(&"REQUEST_METHOD") && bare.contains("DEPARTMENT=toys\n"), "{bare}");
    assert!(bare.contains("GATEWAY_INTERFACE=CGI-Perl/1.1\n") && names.contains(&"MOD_PERL"), "{bare}");
}

#[test]
fn an_apache_dbi_connection_survives_its_disconnect() {
    assert_eq!(serve().text("/perl/database.pl"), "Apache::DBI::db 42 alive");
}

#[test]
fn a_forked_child_holds_no_socket() {
    let server = serve();
    assert!(server.text("/perl/fork.pl").starts_with("kid "));
    crate::support::until("the child tells", || server.site.read("kid.log").contains("sockets left: 0"));
}

#[test]
fn pages_are_compressed_for_clients_that_accept_it() {
    let server = serve();
    let packed = server.send(Request::get("/long.page").header("Accept-Encoding", "gzip")).is(200);
    assert_eq!(packed.header("content-encoding").as_deref(), Some("gzip"));
    assert!(packed.body.len() < 1000, "{} bytes", packed.body.len());
    assert_eq!(server.text("/long.page").len(), 11_000);
}

#[test]
fn the_monitors_are_for_this_machine() {
    let server = serve();
    let menu = server.text("/perl-status");
    assert!(menu.contains("Resource Limits") && menu.contains("Memory Usage"), "{menu}");
    assert!(server.text("/perl-status?main_size").contains(" OPs"));
    server.send_as("127.0.0.9", Request::get("/perl-status")).is(403);
    let monitor = server.text("/vmonitor");
    assert!(monitor.contains("worker 0") && monitor.contains("sum(size-share) + max share"), "{monitor}");
}
