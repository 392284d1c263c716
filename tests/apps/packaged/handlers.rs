//! HTML::Mason's handler and Apache::AuthDBI, as packaged.

use crate::support::{Request, Server, Site};

#[track_caller]
fn serve(site: Site, conf: &str) -> Server {
    site.serve(&format!("MaxClients 1\nStartServers 1\n{conf}"))
}

#[test]
fn components_of_mason_have_arguments_parts_and_the_request() {
    let server = serve(
        Site::new()
            .file(
                "htdocs/page.html",
                "<%args>\n$name => 'nobody'\n</%args>\n% $r->header_out('X-Page' => 'mine');\nHello <% $name |h %> <& part.mas, n => 3 &> at <% $r->uri %>\n",
            )
            .file("htdocs/part.mas", "<%args>$n</%args>part <% $n * 2 %>"),
        "PerlSetVar MasonCompRoot @DIR@/htdocs\nPerlSetVar MasonDataDir @DIR@/tmp\nPerlModule HTML::Mason::ApacheHandler\n\
         <Files *.html>\nSetHandler perl-script\nPerlHandler HTML::Mason::ApacheHandler\n</Files>",
    );
    for _ in 0..2 {
        let page = server.get("/page.html?name=%3Cana%3E").is(200);
        assert_eq!(page.text().trim(), "Hello &lt;ana&gt; part 6 at /page.html");
        assert_eq!(page.header("x-page").as_deref(), Some("mine"));
    }
    assert_eq!(server.post("/page.html", "name=ben").text().trim(), "Hello ben part 6 at /page.html");
    server.get("/missing.html").is(404);
}

#[test]
fn auth_dbi_reads_users_from_the_database() {
    let server = serve(
        Site::new()
            .file("htdocs/closed/a.txt", "private\n")
            .file(
                "users.pl",
                "use DBI; my $d = DBI->connect('dbi:SQLite:dbname=@DIR@/tmp/users.db', '', '', { RaiseError => 1 });\n\
                 $d->do('create table if not exists users (name text, password text)');\n\
                 $d->do(q{insert into users values ('ana', 'secret')}); $d->disconnect; chmod 0666, '@DIR@/tmp/users.db'; 1;\n",
            ),
        "PerlRequire users.pl\nPerlModule Apache::AuthDBI\n<Location /closed>\nAuthType Basic\nAuthName Members\nRequire valid-user\n\
         PerlAuthenHandler Apache::AuthDBI::authen\nPerlSetVar Auth_DBI_data_source dbi:SQLite:dbname=@DIR@/tmp/users.db\n\
         PerlSetVar Auth_DBI_username none\nPerlSetVar Auth_DBI_password none\nPerlSetVar Auth_DBI_pwd_table users\n\
         PerlSetVar Auth_DBI_uid_field name\nPerlSetVar Auth_DBI_pwd_field password\nPerlSetVar Auth_DBI_encrypted off\n</Location>",
    );
    let with = |credentials: &str| server.send(Request::get("/closed/a.txt").header("Authorization", credentials));
    server.get("/closed/a.txt").is(401);
    with("Basic YW5hOndyb25n").is(401);
    assert_eq!(with("Basic YW5hOnNlY3JldA==").is(200).text(), "private\n");
}
