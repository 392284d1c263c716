//! DBI across reforks under load: every worker has connections of its own for every way to store them. The connections
//! of the worker that becomes the mold are closed in order.

use std::process::Command;

use super::{reforks, serve as serve_app};
use crate::support::{Database, Finished, Load, MARIADB, Server, Site, until};

/// `/keeper/WAY/DRIVER` writes a row with the worker, the connection, and the way in which the connection is stored.
const KEEPER: &str = r#"package Keeper;
use v5.36;
use Apache::Constants qw(OK);
use DBI ();

my %SOURCES = (
    SQLite  => ['dbi:SQLite:dbname=@DIR@/keeper.db', '', '', "'file'"],
    MariaDB => ['dbi:MariaDB:ledger;mariadb_socket=@DIR@/database/socket', 'ledger', '', 'connection_id()'],
    mysql   => ['dbi:mysql:ledger;mysql_socket=@DIR@/database/socket', 'ledger', '', 'connection_id()'],
);
my %kept;
my %WAYS = (
    variable       => sub (@source) { $kept{$source[0]} //= DBI->connect(@source) },
    connect_cached => sub (@source) { DBI->connect_cached(@source) },
    connect        => sub (@source) { DBI->connect(@source) },
);
my $asked = 0;

sub source ($driver) { return ( $SOURCES{$driver}->@[ 0 .. 2 ], { RaiseError => 1, PrintError => 0 } ) }

sub handler ($r) {
    my ( undef, $way, $driver ) = split '/', $r->path_info;
    my $session = $SOURCES{$driver}[3];
    my $dbh     = $WAYS{$way}->( source($driver) );
    # Two processes on one connection would get each other's answers.
    my $number = $$ * 1000 + ++$asked;
    ( my $said, $session ) = $dbh->selectrow_array( $dbh->prepare_cached("select ?, $session"), undef, $number );
    die "asked for $number, was told $said" if $said != $number;
    $dbh->begin_work;
    $dbh->prepare_cached('insert into rows_kept values (?, ?, ?)')->execute( $$, $session, "$way $driver" );
    $dbh->commit;
    $r->send_http_header('text/plain');
    $r->print("written\n");
    return OK;
}

1;
"#;
const WORKERS: usize = 3;
const REFORKS: u64 = 5;
const SQLITE: &str = "dbi:SQLite:dbname=@DIR@/keeper.db";
const MARIA: &str = "dbi:MariaDB:ledger;mariadb_socket=@DIR@/database/socket";

/// A MariaDB server and an SQLite file of this site, and workers that write to both.
#[track_caller]
fn serve(modules: &str, start_up: &str) -> (Database, Server) {
    let site = Site::new().file("lib/Keeper.pm", KEEPER).file("start_up.pl", &format!("{start_up}; 1"));
    let database = Database::start(&site, MARIADB);
    for dsn in [SQLITE, MARIA] {
        ask(&site, dsn, "create table rows_kept (worker integer, session varchar(20), way varchar(40))");
    }
    let server = site.serve(&format!(
        "StartServers {WORKERS}\nMinSpareServers {WORKERS}\nMaxSpareServers {WORKERS}\nMaxClients {WORKERS}\n\
         PerlLib lib\nPerlModule {modules}\nPerlRequire start_up.pl\n\
         <Location /keeper>\nSetHandler perl-script\nPerlHandler Keeper\n</Location>"
    ));
    (database, server)
}

/// The first row of the result as another program reads it, its columns joined by a space.
#[track_caller]
fn ask(site: &Site, dsn: &str, statement: &str) -> String {
    let program = "my ($dsn, $statement) = @ARGV; my $dbh = DBI->connect($dsn, 'ledger', '', { RaiseError => 1 }); \
        $statement =~ /\\Acreate/ ? $dbh->do($statement) : print join ' ', $dbh->selectrow_array($statement)";
    let mut perl = Command::new("perl");
    Finished::of(perl.args(["-MDBI", "-e", program, &site.filled(dsn), statement])).succeeded().out
}

/// Sends requests in all these ways, one client each, through [`REFORKS`] reforks, and checks that no row is lost.
#[track_caller]
fn no_row_is_lost(server: &Server, ways: &[&str]) {
    let written = |way: &&str| Load::start(server, 1, &format!("/keeper/{way}"), |r| r.text() == "written\n");
    let loads: Vec<Load> = ways.iter().map(written).collect();
    for refork in 1..=REFORKS {
        loads.iter().for_each(|load| load.until_answered(10));
        server.control(["refork"]).succeeded();
        assert_eq!(reforks(server), refork);
    }
    loads.iter().for_each(|load| load.until_answered(10));
    for (way, load) in ways.iter().zip(loads) {
        let (answered, failures) = load.end();
        assert_eq!(failures, Vec::<String>::new(), "{way}");
        let dsn = if way.ends_with("SQLite") { SQLITE } else { MARIA };
        let way = way.replace('/', " ");
        let rows = ask(&server.site, dsn, &format!("select count(*) from rows_kept where way = '{way}'"));
        assert_eq!(rows, answered.to_string(), "{way}");
    }
    assert_eq!(ask(&server.site, SQLITE, "pragma integrity_check"), "ok");
    let log = server.log();
    let complaints: Vec<&str> = log
        .lines()
        .filter(|line| !line.contains("[notice]") && !line.contains("MaxClients") && !line.contains("start-up left"))
        .collect();
    assert_eq!(complaints, Vec::<&str>::new());
}

#[track_caller]
fn each_connection_has_been_of_one_worker(server: &Server) {
    let count = |groups: &str| ask(&server.site, MARIA, &format!("select count(*) from ({groups}) of_all"));
    assert_eq!(count("select session from rows_kept group by session having count(distinct worker, way) > 1"), "0");
    let twice = "select worker, way from rows_kept group by worker, way having count(distinct session) > 1";
    assert_eq!(count(twice), "0", "a worker has lost its connection");
}

#[track_caller]
fn none_is_left_and_none_was_broken(server: &Server, most: usize) {
    let open = "select count(*) from information_schema.processlist where user = 'ledger' and id != connection_id()";
    until("only the workers of today are connected, and the first mold", || {
        ask(&server.site, MARIA, open).parse::<usize>().expect("a number") <= most
    });
    assert_eq!(ask(&server.site, MARIA, "show global status like 'Aborted_clients'"), "Aborted_clients 0");
}

#[track_caller]
fn all(modules: &str, start_up: &str, ways: &[&str]) {
    let (_database, server) = serve(modules, start_up);
    no_row_is_lost(&server, ways);
    each_connection_has_been_of_one_worker(&server);
    let of_each = ways.iter().filter(|way| !way.ends_with("SQLite")).count();
    let of_mold = usize::from(start_up.starts_with("DBI->"));
    none_is_left_and_none_was_broken(&server, WORKERS * of_each + of_mold);
}

#[test]
fn connections_in_a_variable_of_the_program_survive_a_refork() {
    all("Keeper", "", &["variable/SQLite", "variable/MariaDB", "variable/mysql"]);
}

/// In each worker, connect_cached also looks up the connection that the start-up code made.
#[test]
fn connections_of_connect_cached_survive_a_refork() {
    let start_up = "DBI->connect_cached( Keeper::source('MariaDB') )";
    all("Keeper", start_up, &["connect_cached/SQLite", "connect_cached/MariaDB", "connect_cached/mysql"]);
}

#[test]
fn connections_of_apache_dbi_survive_a_refork() {
    let start_up = "Apache::DBI->connect_on_init( Keeper::source('MariaDB') )";
    all("Apache::DBI Keeper", start_up, &["connect/SQLite", "connect/MariaDB", "connect_cached/mysql"]);
}

const SETTER: &str = r#"use v5.36; use DBI;
my $told = 0;
my %callbacks = ( connected => sub { $told++; $_[0]->do('PRAGMA cache_size = 77'); return } );
my $dbh;
sub {
    if ( !$dbh ) {
        $dbh = DBI->connect('dbi:SQLite:@DIR@/data.db', '', '', { PrintError => 0, Callbacks => \%callbacks });
        @$dbh{qw(RaiseError AutoCommit LongReadLen private_list)} = ( 1, 0, 77, [ 7, 7 ] );
    }
    my ($size) = $dbh->selectrow_array('PRAGMA cache_size');
    my @flags  = map { $dbh->{$_} ? 1 : 0 } qw(PrintError RaiseError AutoCommit);
    return [ 200, [], ["told=$told size=$size flags=@flags length=$dbh->{LongReadLen} list=@{ $dbh->{private_list} }"] ];
}
"#;

#[test]
fn attributes_set_after_the_connect_are_copied_to_the_next_handle() {
    let server = serve_app(Site::new(), SETTER, 1, "");
    for count in 1..=3 {
        assert_eq!(server.text("/"), format!("told={count} size=77 flags=0 1 0 length=77 list=7 7"));
        server.control(["refork"]).succeeded();
    }
}

/// The connection of the start-up belongs to the mold alone.
#[test]
fn connect_cached_finds_the_connection_that_each_worker_has_made() {
    let app = "use DBI; my $made = 0; my %callbacks = ('connect_cached.new' => sub { $made++; return });
        my $connect = sub { DBI->connect_cached('dbi:SQLite:@DIR@/data.db', '', '', { Callbacks => \\%callbacks }) };
        $connect->();
        sub { $connect->(); [200, [], [$made]] }";
    let server = serve_app(Site::new(), app, 1, "");
    for made in 2..=4 {
        assert_eq!(server.text("/"), made.to_string());
        assert_eq!(server.text("/"), made.to_string());
        server.control(["refork"]).succeeded();
    }
    assert!(!server.log().contains("after the fork"), "{}", server.log());
}
