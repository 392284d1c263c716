//! Debian's Apache::DBI, unmodified: tests/apps/packaged/site/lib/Ledger.pm on each database that Debian has a driver
//! for.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{Database, Load, MARIADB, POSTGRES, Product, Server, Site, until};

/// A database driver: its DSN, its account, and the query that identifies a connection.
struct Driver {
    dsn: &'static str,
    user: &'static str,
    session: &'static str,
    /// Whether the driver reconnects by itself: DBD::mysql does so behind the same handle when `MOD_PERL` is set; other
    /// drivers leave it to Apache::DBI's ping.
    connects_again: bool,
}

const SQLITE: Driver =
    Driver { dsn: "dbi:SQLite:dbname=@DIR@/ledger.db", user: "", session: "select 'file'", connects_again: false };
const MYSQL: Driver = Driver {
    dsn: "dbi:mysql:ledger;mysql_socket=@DIR@/database/socket",
    user: "ledger",
    session: "select connection_id()",
    connects_again: true,
};
const MARIA: Driver =
    Driver { dsn: "dbi:MariaDB:ledger;mariadb_socket=@DIR@/database/socket", connects_again: false, ..MYSQL };
const PG: Driver = Driver {
    dsn: "dbi:Pg:dbname=ledger;host=@DIR@/database",
    user: "ledger",
    session: "select pg_backend_pid()",
    connects_again: false,
};

#[track_caller]
fn serve(site: Site, driver: &Driver) -> Server {
    let real = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/apps/packaged/site");
    site.serve(&format!(
        r#"
        PerlLib {real}/lib
        PerlSetEnv LEDGER_DSN "{dsn}"
        PerlSetEnv LEDGER_USER "{user}"
        PerlModule Apache::DBI
        PerlRequire {real}/dbi/startup.pl
        <Location /ledger>
            SetHandler perl-script
            PerlHandler Ledger
            PerlSetVar LedgerDSN "{dsn}"
            PerlSetVar LedgerUser "{user}"
            PerlSetVar LedgerSession "{session}"
        </Location>
        "#,
        dsn = driver.dsn,
        user = driver.user,
        session = driver.session,
    ))
}

/// Sends requests until both workers have answered; returns one response of each.
#[track_caller]
fn bodies_of_both_workers(server: &Server, target: &str, good: fn(&str) -> bool) -> BTreeMap<String, String> {
    // A single client might always meet the same worker.
    let others = Load::start(server, 3, target, |response| response.status == 200);
    let mut workers = BTreeMap::new();
    until("both workers have answered", || {
        let body = server.text(target);
        assert!(good(&body), "{body}");
        let (worker, rest) = body.split_once(' ').expect("several words");
        workers.insert(worker.to_owned(), rest.to_owned());
        workers.len() == 2
    });
    assert_eq!(others.failures(), Vec::<String>::new());
    workers
}

#[track_caller]
fn each_worker_has_a_connection_of_its_own_from_the_start(server: &Server) {
    let connects = || server.log().matches("Apache::DBI             new connect to").count();
    until("connect_on_init has connected both workers", || connects() == 2);
    bodies_of_both_workers(server, "/ledger/count?nothing", |body| body.contains(" opened=1 rows=0"));
    assert_eq!(connects(), 2, "one for each worker, before its first request");
}

#[track_caller]
fn a_disconnect_changes_nothing(server: &Server) {
    for _ in 0..2 {
        bodies_of_both_workers(server, "/ledger/add?left-by-disconnect", |body| body.contains(" opened=1 added"));
    }
}

#[track_caller]
fn a_transaction_ends_with_its_request(server: &Server) {
    for _ in 0..4 {
        server.get("/ledger/leave").is(500);
    }
    bodies_of_both_workers(server, "/ledger/count?left", |body| body.contains(" opened=1 rows=0"));
}

#[track_caller]
fn what_start_up_opened_is_not_shared(server: &Server, driver: &Driver) {
    server.logged("start-up left a connection to \"dbi:");
    let sessions = bodies_of_both_workers(server, "/ledger/startup", |body| body.contains(" session="));
    let sessions: BTreeSet<&String> = sessions.values().collect();
    assert!(sessions.len() == 2 || driver.dsn == SQLITE.dsn, "{sessions:?}");
}

#[track_caller]
fn no_row_is_lost_under_load_and_across_a_reload(server: &Server) {
    let loads = [1, 2].map(|_| Load::start(server, 2, "/ledger/add?load", |response| response.status == 200));
    loads.iter().for_each(|load| load.until_answered(20));
    server.reload().succeeded();
    loads.iter().for_each(|load| load.until_answered(20));
    let (mut answered, mut failures) = (0, Vec::new());
    for load in loads {
        let (count, failed) = load.end();
        answered += count;
        failures.extend(failed);
    }
    assert_eq!(failures, Vec::<String>::new());
    until("the old generation has left", || server.status()["generations"].as_array().map_or(0, Vec::len) == 1);
    let body = server.text("/ledger/count?load");
    assert!(body.ends_with(&format!(" rows={answered}\n")), "{body}, {answered} answers");
}

#[track_caller]
fn check_without_restart(server: &Server, driver: &Driver) {
    each_worker_has_a_connection_of_its_own_from_the_start(server);
    a_disconnect_changes_nothing(server);
    what_start_up_opened_is_not_shared(server, driver);
    a_transaction_ends_with_its_request(server);
    no_row_is_lost_under_load_and_across_a_reload(server);
}

#[track_caller]
fn workers_connect_again_when_the_database_comes_back(server: &Server, driver: &Driver, database: &mut Database) {
    let before = bodies_of_both_workers(server, "/ledger/count?-", |body| body.contains(" opened=1 "));
    database.restart();
    let after = bodies_of_both_workers(server, "/ledger/count?-", |body| body.contains(" rows=0"));
    assert!(before.keys().eq(after.keys()), "the same workers");
    let handles = if driver.connects_again { "opened=1 " } else { "opened=2 " };
    assert!(after.values().all(|body| body.starts_with(handles)), "{after:?}");
}

#[test]
fn apache_dbi_on_sqlite() {
    let server = serve(Site::new(), &SQLITE);
    check_without_restart(&server, &SQLITE);
}

#[track_caller]
fn all(product: &'static Product, driver: &Driver) {
    let site = Site::new();
    let mut database = Database::start(&site, product);
    let server = serve(site, driver);
    check_without_restart(&server, driver);
    workers_connect_again_when_the_database_comes_back(&server, driver, &mut database);
}

#[test]
fn apache_dbi_on_mariadb_by_its_own_driver() {
    all(MARIADB, &MARIA);
}

#[test]
fn apache_dbi_on_mariadb_by_the_driver_of_mysql() {
    all(MARIADB, &MYSQL);
}

#[test]
fn apache_dbi_on_postgresql() {
    all(POSTGRES, &PG);
}
