//! Perl in `.htaccess` files: handler names and values; code only where the server's configuration allows it.

use super::{serve, serve_allowing};
use crate::support::Site;

#[test]
fn a_site_of_mod_perl_1_names_its_handlers_in_the_file() {
    let site = Site::new()
        .file("lib/My/App.pm", "package My::App; sub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print('app ', $r->dir_config('Global'), ' ', $ENV{STAGE}); 0 } 1;")
        .file(
            "htdocs/app/.htaccess",
            "PerlSetVar Global .\nPerlSetEnv STAGE test\n<Files ~ (\\.asp)>\nSetHandler perl-script\nPerlHandler My::App\n</Files>",
        )
        .file("htdocs/app/index.asp", "");
    let server = serve(site, "<Directory @DIR@/htdocs/app>\nSetHandler default-handler\n</Directory>");
    assert_eq!(server.text("/app/index.asp"), "app . test");
    server.get("/app/none.html").is(404);
}

#[test]
fn a_script_runs_under_registry_with_cgi_mode_persistent() {
    let site =
        Site::new().script("htdocs/cgi/a.pl", "print \"Content-Type: text/plain\\n\\nscript $ENV{PATH_INFO}\";").file(
            "htdocs/cgi/.htaccess",
            "SetHandler perl-script\nPerlHandler Apache::Registry\nOptions +ExecCGI\nPerlSendHeader On",
        );
    assert_eq!(serve(site, "").text("/cgi/a.pl/info"), "script /info");
}

#[test]
fn code_is_refused_where_the_server_does_not_allow_it() {
    let lines = ["PerlHandler 'sub { 0 }'", "PerlModule Show", "PerlRequire lib/Show.pm", "PsgiApp app.psgi"];
    for line in lines {
        let name = line.split(' ').next().unwrap_or(line);
        let server = serve(Site::new().file("htdocs/.htaccess", line), "PerlHtaccess Handlers");
        server.get("/page").is(500);
        server.logged(&format!(
            "{name}: is not allowed in .htaccess files: the main configuration needs PerlHtaccess On"
        ));
    }
    let server =
        serve(Site::new().file("htdocs/.htaccess", "<Perl>\nsystem 'touch /tmp/x';\n</Perl>"), "PerlHtaccess On");
    server.get("/page").is(500);
    server.logged("<Perl>: is not allowed in .htaccess files");
}

#[test]
fn code_needs_the_two_classes_that_a_script_needs() {
    for (classes, status) in [("FileInfo", 500), ("FileInfo Options=Indexes", 500), ("FileInfo Options", 200)] {
        let code = "SetHandler perl-script\nPerlHandler 'sub { $_[0]->print(1); 0 }'";
        let server = serve_allowing(classes, Site::new().file("htdocs/.htaccess", code), "");
        assert_eq!(server.get("/page").status, status, "AllowOverride {classes}");
    }
}

#[test]
fn code_runs_where_the_server_allows_it() {
    let site = Site::new()
        .file("lib/Late.pm", "package Late; our $VERSION = 5; 1;")
        .file(
            "htdocs/.htaccess",
            "PerlModule Late\nSetHandler perl-script\nPerlHandler \"sub { my $r = shift; $r->send_http_header('text/plain'); $r->print(\\\"late $Late::VERSION\\\"); 0 }\"",
        );
    assert_eq!(serve(site, "").text("/page"), "late 5");
}

#[test]
fn each_perl_override_level_includes_the_lower_levels() {
    let cases = [
        ("Off", "PerlSetVar X v", 500),
        ("Off", "SetEnv X v", 200),
        ("Off", "PerlHandler Other", 500),
        ("Vars", "PerlSetVar X v", 200),
        ("Vars", "PerlHandler Other", 500),
        ("Vars", "SetHandler perl-script", 500),
        ("Vars", "SetHandler default-handler", 404),
        ("Handlers", "PerlHandler Other", 200),
        ("On", "PerlHandler Other", 200),
    ];
    for (level, line, status) in cases {
        let server = serve(Site::new().file("htdocs/.htaccess", line), &format!("PerlHtaccess {level}"));
        assert_eq!(server.get("/page").status, status, "PerlHtaccess {level}: {line}");
    }
}
