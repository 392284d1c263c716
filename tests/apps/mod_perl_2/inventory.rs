//! Debian's OCS Inventory server on MariaDB, with the package's own file for mod_perl 2: `make applications`. Its
//! tables are in another package, which depends on PHP: the test unpacks that package instead of installing it. No
//! package has the module that its SOAP interface loads: tests/apps/mod_perl_2/site/lib/SOAP/Transport/HTTP2.pm.

use std::process::Command;

use super::{OURS, no_answer_is_wrong_over_reloads};
use crate::support::{Database, Finished, MARIADB, Request, Server, Site};

const PACKAGED: &str = "/etc/apache2/conf-available/ocsinventory-server.conf";

/// User `ana` with the password `x`.
const USERS: &str = "ana:{SHA}EfatjsUqKYSrqv18O1FlA3hcIHI=\n";

/// Creates the database account that the package's file names.
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
    // Two placeholders of the package's file that an administrator replaces.
    let theirs = std::fs::read_to_string(PACKAGED).expect("the package's");
    site.write("ocs.conf", &theirs.replace("APACHE_AUTH_USER_FILE", "@DIR@/users").replace("SOAP_USER", "ana"));
    site.write("users", USERS);
    let conf = format!(
        "User www-data\nGroup www-data\nPerlGeneration 2\nPerlSwitches -I{OURS}/lib\nPerlSetEnv OCS_OPT_WEB_SERVICE_ENABLED 1\n\
         PerlSetEnv MYSQL_UNIX_PORT @DIR@/database/socket\nInclude ocs.conf"
    );
    (site.serve(&conf), database)
}

/// An agent's request: XML compressed by zlib, through Python.
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

/// The XML text of a compressed response.
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
    let body = answered(&server.site, &server.send(prolog.clone()).is(200).body);
    assert!(body.contains("<RESPONSE>SEND</RESPONSE>"), "{body}");
    let inventory = agent(&server.site, INVENTORY, "INVENTORY");
    let body = answered(&server.site, &server.send(inventory).is(200).body);
    assert!(body.contains("<RESPONSE>NO_ACCOUNT_UPDATE</RESPONSE>"), "{body}");
    let kept = mariadb(
        &server.site,
        "--batch --execute='select name, osname, macaddr from hardware h, networks n where h.id = n.hardware_id' ocsweb",
    );
    assert_eq!(kept.lines().last(), Some("camel\tDebian\t02:00:00:00:00:01"), "{kept}");
    no_answer_is_wrong_over_reloads(&server, &[(prolog, |r| r.status == 200 && r.body.starts_with(b"\x78"))]);
}

/// The output of SOAP::Lite's client for a call, built as in the package's soap-client.pl.
#[track_caller]
fn called(server: &Server, call: &str) -> String {
    let program = format!(
        "use SOAP::Lite; my $said = SOAP::Lite->uri('http://127.0.0.1/Apache/Ocsinventory/Interface') \
         ->proxy('http://ana:x@127.0.0.1:{}/ocsinterface')->{call}; die $said->faultstring if $said->fault; print $said->paramsall",
        server.site.port
    );
    Finished::of(Command::new("perl").args(["-e", &program])).succeeded().out
}

/// A query for all facts that the interface has about a computer.
const ALL: &str = "<REQUEST><ENGINE>FIRST</ENGINE><ASKING_FOR>INVENTORY</ASKING_FOR><CHECKSUM>131071</CHECKSUM><OFFSET>0</OFFSET></REQUEST>";

/// A SOAP request for the computers, without SOAP::Lite's client.
fn computers() -> Request {
    let call = format!(
        "<?xml version=\"1.0\"?><soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Body>\
         <get_computers_V1 xmlns=\"http://127.0.0.1/Apache/Ocsinventory/Interface\"><asked><![CDATA[{ALL}]]></asked></get_computers_V1>\
         </soap:Body></soap:Envelope>"
    );
    Request::new("POST", "/ocsinterface")
        .header("Authorization", "Basic YW5hOng=")
        .header("Content-Type", "text/xml; charset=utf-8")
        .header("SOAPAction", "\"http://127.0.0.1/Apache/Ocsinventory/Interface#get_computers_V1\"")
        .body(call)
}

#[test]
#[ignore = "needs Debian's ocsinventory-server: `make applications`"]
fn inventories_of_agents_are_returned_by_soap_under_load_and_over_reloads() {
    let (server, _database) = serve();
    let prolog = agent(&server.site, "", "PROLOG");
    server.send(prolog.clone()).is(200);
    server.send(agent(&server.site, INVENTORY, "INVENTORY")).is(200);
    let response = called(&server, &format!("get_computers_V1('{ALL}')"));
    for part in ["<NAME>camel</NAME>", "<SSN>42</SSN>", "<MACADDR>02:00:00:00:00:01</MACADDR>"] {
        assert!(response.contains(part), "{part}: {response}");
    }
    assert_eq!(called(&server, "ocs_config_V1('PROLOG_FREQ')"), "24");
    assert_eq!(called(&server, "reset_checksum_V1(0, 1)"), "1");
    assert!(called(&server, "reset_checksum_V1('all', 1)").contains("<ERROR>BAD_CHECKSUM</ERROR>"));
    assert_eq!(called(&server, "reset_checksum_V1(262143, 1)"), "1");
    no_answer_is_wrong_over_reloads(
        &server,
        &[
            (computers(), |r| {
                r.status == 200
                    && r.header("content-type").as_deref() == Some("text/xml; charset=utf-8")
                    && r.text().contains("camel")
            }),
            (prolog, |r| r.status == 200 && r.body.starts_with(b"\x78")),
        ],
    );
}
