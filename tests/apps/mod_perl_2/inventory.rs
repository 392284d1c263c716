//! Debian's OCS Inventory server on MariaDB, with the package's own file for mod_perl 2: `make applications`. Its tables are described in another
//! package, which wants PHP: that one is unpacked here, not installed.

use std::process::Command;

use super::no_answer_is_wrong_over_reloads;
use crate::support::{Database, Finished, MARIADB, Request, Server, Site};

const SITE: &str = "User www-data\nGroup www-data\nPerlGeneration 2\nPerlSetEnv MYSQL_UNIX_PORT @DIR@/database/socket\n\
    Include /etc/apache2/conf-available/ocsinventory-server.conf";

/// What stands in its file as the database's account.
const ACCOUNT: &str = "create database ocsweb character set utf8; create user ocs@localhost identified by 'ocs'; \
    grant all on ocsweb.* to ocs@localhost";

#[track_caller]
fn mariadb(site: &Site, arguments: &str) -> String {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("exec mariadb --no-defaults --user=root --socket=database/socket {arguments}")]);
    Finished::of(command.current_dir(site.folder())).succeeded().out
}

#[track_caller]
fn serve() -> (Server, Database) {
    let site = Site::new();
    let database = Database::start(&site, MARIADB);
    mariadb(&site, &format!("--execute=\"{ACCOUNT}\""));
    let unpack = "apt-get download ocsinventory-reports && dpkg -x ocsinventory-reports_*.deb reports";
    Finished::of(Command::new("sh").args(["-c", unpack]).current_dir(site.folder())).succeeded();
    mariadb(&site, "ocsweb < reports/usr/share/ocsinventory-reports/files/ocsbase.sql");
    (site.serve(SITE), database)
}

/// As agents send it: XML, compressed by zlib, which is python's here.
fn agent(site: &Site, content: &str, query: &str) -> Request {
    let device = "camel-2026-11-23-10-00-00";
    let xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<REQUEST>{content}<DEVICEID>{device}</DEVICEID><QUERY>{query}</QUERY></REQUEST>"
    );
    site.write("sent.xml", &xml);
    let compress = "import sys, zlib; open('sent', 'wb').write(zlib.compress(open('sent.xml', 'rb').read()))";
    Finished::of(Command::new("python3").args(["-c", compress]).current_dir(site.folder())).succeeded();
    let body = std::fs::read(site.path("sent")).expect("just written");
    Request::new("POST", "/ocsinventory")
        .header("User-Agent", "OCS-NG_unified_unix_agent_v2.10.0")
        .header("Content-Type", "application/x-compressed")
        .body(body)
}

/// What an answer says.
#[track_caller]
fn answered(site: &Site, bytes: &[u8]) -> String {
    std::fs::write(site.path("came"), bytes).expect("a file in TMPDIR");
    let expand = "import sys, zlib; print(zlib.decompress(open('came', 'rb').read()).decode())";
    Finished::of(Command::new("python3").args(["-c", expand]).current_dir(site.folder())).succeeded().out
}

const INVENTORY: &str = "<CONTENT><BIOS><SMANUFACTURER>Acme</SMANUFACTURER><SSN>42</SSN></BIOS><HARDWARE><NAME>camel</NAME>\
    <OSNAME>Debian</OSNAME><OSVERSION>12</OSVERSION><IPADDR>10.0.0.1</IPADDR><MEMORY>2048</MEMORY><CHECKSUM>262143</CHECKSUM></HARDWARE>\
    <NETWORKS><DESCRIPTION>eth0</DESCRIPTION><IPADDRESS>10.0.0.1</IPADDRESS><MACADDR>02:00:00:00:00:01</MACADDR></NETWORKS></CONTENT>";

#[test]
#[ignore = "needs Debian's ocsinventory-server: `make applications`"]
fn agents_ask_and_send_their_inventories_under_load_and_over_reloads() {
    let (server, _database) = serve();
    let prolog = agent(&server.site, "", "PROLOG");
    let said = answered(&server.site, &server.send(prolog.clone()).is(200).body);
    assert!(said.contains("<RESPONSE>SEND</RESPONSE>"), "{said}");
    let inventory = agent(&server.site, INVENTORY, "INVENTORY");
    let said = answered(&server.site, &server.send(inventory).is(200).body);
    assert!(said.contains("<RESPONSE>NO_ACCOUNT_UPDATE</RESPONSE>"), "{said}");
    let kept = mariadb(
        &server.site,
        "--batch --execute='select name, osname, macaddr from hardware h, networks n where h.id = n.hardware_id' ocsweb",
    );
    assert_eq!(kept.lines().last(), Some("camel\tDebian\t02:00:00:00:00:01"), "{kept}");
    no_answer_is_wrong_over_reloads(&server, &[(prolog, |r| r.status == 200 && r.body.starts_with(b"\x78"))]);
}
