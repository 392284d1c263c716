//! A tree as Debian's apache2 and libapache2-mod-perl2 make it: apache2.conf, envvars beside it, links in mods-enabled
//! and sites-enabled.

use std::os::unix::fs::symlink;

use crate::support::{Server, Site};

const ENVVARS: &str = "unset HOME\nif [ \"${APACHE_CONFDIR##/etc/apache2-}\" != \"${APACHE_CONFDIR}\" ] ; then\n\
    \tSUFFIX=\"-x\"\nelse\n\tSUFFIX=\nfi\nexport APACHE_LOG_DIR=@DIR@/logs$SUFFIX\nexport APACHE_RUN_DIR=${APACHE_RUN_DIR:-@DIR@/run}\n\
    export LANG=C\nexport LANG\n";

const APACHE2: &str = "DefaultRuntimeDir ${APACHE_RUN_DIR}\nPidFile ${APACHE_RUN_DIR}/apache2.pid\nErrorLog ${APACHE_LOG_DIR}/error.log\n\
    IncludeOptional mods-enabled/*.load\nIncludeOptional mods-enabled/*.conf\nInclude ports.conf\n<Directory />\nRequire all denied\n\
    </Directory>\n<Directory /usr/share>\nRequire all granted\n</Directory>\n<FilesMatch \"^\\.ht\">\nRequire all denied\n</FilesMatch>\n\
    LogFormat \"%h %l %u %t \\\"%r\\\" %>s %O\" common\nIncludeOptional sites-enabled/*.conf\n";

const HOST: &str = "<VirtualHost *:@PORT@>\nDocumentRoot @DIR@/htdocs\nCustomLog ${APACHE_LOG_DIR}/access.log common\nPerlSwitches -I@DIR@/lib\n\
    <Directory @DIR@/htdocs>\n<RequireAll>\nRequire all granted\nRequire not ip 192.0.2.1\n</RequireAll>\n</Directory>\n\
    <Location /perl>\nSetHandler modperl\nPerlResponseHandler My\nRequire all granted\n</Location>\n</VirtualHost>\n";

/// A handler with calls of each rating: green, amber and red.
const HANDLER: &str = "package My;\nuse Apache2::RequestRec ();\nuse Apache2::RequestIO ();\nsub handler {\n    my $r = shift;\n\
    \x20   $r->content_type('text/plain');\n    $r->print('camel');\n    return 0;\n    $r->send_http_header;\n    $r->connection->client_socket;\n\
    \x20   $r->no_such_thing;\n    Apache2::ServerUtil->server->no_more;\n    $r->headers_in->get('Host');\n}\n1;\n";

fn tree(envvars: &str) -> Site {
    let site = Site::new()
        .file("etc/apache2.conf", APACHE2)
        .file("etc/envvars", envvars)
        .file("etc/ports.conf", "Listen 127.0.0.1:@PORT@\n")
        .file("etc/mods-available/perl.load", "LoadModule perl_module /usr/lib/apache2/modules/mod_perl.so\n")
        .file("etc/mods-available/apreq2.load", "LoadModule apreq_module /usr/lib/apache2/modules/mod_apreq2.so\n")
        .file("etc/mods-available/dav.load", "LoadModule dav_module /usr/lib/apache2/modules/mod_dav.so\n")
        .file("etc/sites-available/000-default.conf", HOST)
        .file("logs/.keep", "")
        .file("run/.keep", "")
        .file("htdocs/index.html", "hello")
        .file("lib/My.pm", HANDLER);
    let enable = |kind: &str, name: &str| {
        let folder = site.path(&format!("etc/{kind}-enabled"));
        std::fs::create_dir_all(&folder).expect("a folder in TMPDIR");
        symlink(format!("../{kind}-available/{name}"), folder.join(name)).expect("a link in TMPDIR");
    };
    ["perl.load", "apreq2.load", "dav.load"].iter().for_each(|name| enable("mods", name));
    enable("sites", "000-default.conf");
    site
}

#[test]
fn the_tree_is_checked_with_the_names_of_its_envvars() {
    let output = tree(ENVVARS).cameleer(["check", "-f", "etc/apache2.conf"]).succeeded();
    assert!(output.err.contains("Syntax OK") || output.out.contains("Syntax OK"), "{output:?}");
    assert!(!output.err.contains("has no value") && !output.err.contains("envvars"), "{output:?}");
}

#[test]
fn the_tree_is_served() {
    let site = tree(ENVVARS);
    let command = site.command(["serve", "-f", "etc/apache2.conf"]);
    let server = Server::start(site, command);
    assert_eq!(server.text("/index.html"), "hello");
    assert_eq!(server.text("/perl"), "camel");
    server.get("/.htaccess").is(403);
    assert!(server.site.has("logs/access.log") && server.site.has("run/apache2.pid"));
}

#[test]
fn a_survey_of_the_tree_names_files_lines_modules_and_methods() {
    let output = tree(ENVVARS).cameleer(["check", "--compat", "-f", "etc/apache2.conf"]).failed(1, "will not run");
    for expected in [
        "etc/apache2.conf:1: amber DefaultRuntimeDir",
        "etc/mods-enabled/dav.load:1: amber LoadModule: dav_module is not part of Cameleer",
        "etc/sites-enabled/000-default.conf:13: green PerlResponseHandler",
        "lib/My.pm:6: green Apache2::RequestRec::content_type",
        "lib/My.pm:9: red   Apache2::RequestRec::send_http_header: belongs to mod_perl 1; load Apache2::compat",
        "lib/My.pm:10: amber Apache2::Connection::client_socket: is the client's in a PerlProcessConnectionHandler",
        "lib/My.pm:11: red   Apache2::RequestRec::no_such_thing: is not a supported method of mod_perl 2",
        "lib/My.pm:12: green Apache2::ServerUtil::server",
        "lib/My.pm:12: red   Apache2::ServerRec::no_more",
        "lib/My.pm:13: green APR::Table::get",
    ] {
        assert!(output.out.contains(expected), "{expected}\n{}", output.out);
    }
    // `<Directory />` does not make / a folder of the site.
}

#[test]
fn variables_that_need_a_shell_are_named_and_never_run() {
    let envvars = format!("{ENVVARS}export NAME=$(touch @DIR@/ran)\nexport OTHER=`touch @DIR@/ran`\n. @DIR@/more\n");
    let site = tree(&envvars).file("more", "touch @DIR@/ran\n");
    let output = site.cameleer(["check", "-f", "etc/apache2.conf"]).succeeded();
    for expected in
        ["envvars:11: warning: \"$(touch", "envvars:12: warning: `…` is a shell command", "envvars:13: warning: \". "]
    {
        assert!(output.err.contains(expected), "{expected}\n{output:?}");
    }
    assert!(!site.has("ran"));
    site.write("etc/sites-available/000-default.conf", "ServerName ${NAME}\n");
    let output = site.cameleer(["check", "-f", "etc/apache2.conf"]).failed(78, "${NAME} has no value");
    assert!(output.err.contains("000-default.conf:1"), "{output:?}");
}

#[test]
fn envvars_may_be_anything() {
    let site = tree("");
    std::fs::remove_file(site.path("etc/envvars")).expect("our own file");
    std::fs::create_dir(site.path("etc/envvars")).expect("a folder in TMPDIR");
    let output = site.cameleer(["check", "-f", "etc/apache2.conf"]).failed(78, "${APACHE_RUN_DIR} has no value");
    assert_eq!(output.code, 78);
    std::fs::remove_dir(site.path("etc/envvars")).expect("our own folder");
    site.write_bytes("etc/envvars", &[b'A'; 100_000]);
    site.cameleer(["check", "-f", "etc/apache2.conf"]).failed(78, "${APACHE_RUN_DIR} has no value");
}
