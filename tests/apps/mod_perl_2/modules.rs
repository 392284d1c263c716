//! Modules that sites add in httpd.conf: SOAP::Lite, CGI::Application::Dispatch, Apache2::Reload,
//! ReverseProxy::FormFiller.

use std::fs::File;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use super::{OURS, no_answer_is_wrong_over_reloads};
use crate::apps::soap;
use crate::support::{Request, Server, Site};

/// The folder of the class that SOAP clients call; the mod_perl 1 tests use the same.
const CALCULATOR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/apps/packaged/site/packages/lib");

#[track_caller]
fn serve_soap() -> Server {
    Site::new().serve(&format!(
        r#"
        PerlGeneration 2
        PerlSwitches -I{CALCULATOR}
        PerlModule Apache::SOAP
        <Location /soap>
            SetHandler perl-script
            PerlResponseHandler Apache::SOAP
            PerlSetVar dispatch_to "Packaged::Calculator"
            PerlOptions +GlobalRequest
        </Location>
        "#
    ))
}

/// A SOAP request for the sum, without SOAP::Lite's client.
fn sum() -> Request {
    let call = "<?xml version=\"1.0\"?><soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Body>\
        <add xmlns=\"urn:Packaged/Calculator\"><a>40</a><b>2</b></add></soap:Body></soap:Envelope>";
    Request::new("POST", "/soap")
        .header("Content-Type", "text/xml; charset=utf-8")
        .header("SOAPAction", "\"urn:Packaged/Calculator#add\"")
        .body(call)
}

#[test]
fn soap_lite_calls_apache_soap() {
    let server = serve_soap();
    for _ in 0..2 {
        assert_eq!(soap(&server, "add(1, 2, 39)"), "42");
        assert_eq!(soap(&server, "divide(1, 0)"), "soap:Client.Zero nothing is divided by zero");
        assert!(soap(&server, "system('id')").starts_with("soap:Client "));
    }
    server.get("/soap").is(400);
    no_answer_is_wrong_over_reloads(&server, &[(sum(), |r| r.status == 200 && r.text().contains(">42</"))]);
}

#[test]
fn cgi_application_dispatch_finds_the_run_mode_in_the_path() {
    let server = Site::new().serve(&format!(
        r#"
        PerlSwitches -I{OURS}/lib
        PerlModule Shop::Dispatch
        <Location /shop>
            SetHandler perl-script
            PerlResponseHandler Shop::Dispatch
        </Location>
        "#
    ));
    for _ in 0..2 {
        assert_eq!(server.text("/shop/?name=%3Cana%3E"), "Goods for &lt;ana&gt;");
        assert_eq!(server.post("/shop/", "name=ben").is(200).text(), "Goods for ben");
        assert_eq!(server.text("/shop/item/7"), "item 7");
        assert_eq!(
            server.get("/shop/shop/away").is(302).header("location").as_deref(),
            Some("http://localhost/elsewhere")
        );
        server.get("/shop/none/such").is(404);
    }
    no_answer_is_wrong_over_reloads(
        &server,
        &[
            (Request::get("/shop/item/7"), |r| r.status == 200 && r.text() == "item 7"),
            (Request::post("/shop/", "name=ben"), |r| r.text() == "Goods for ben"),
        ],
    );
}

#[test]
fn debians_apache2_reload_loads_what_has_changed() {
    let site = Site::new().file("lib/Camel.pm", "package Camel;\nsub humps { 1 }\n1;\n").file(
        "lib/Show.pm",
        "package Show;\nuse Camel ();\nuse Apache2::RequestRec ();\nuse Apache2::RequestIO ();\n\
         sub handler { $_[0]->print(Camel::humps(), ' by ', $INC{'Apache2/Reload.pm'}); 0 }\n1;\n",
    );
    // Our own module of this name comes after the site's folders in `@INC`.
    let theirs = "/usr/share/perl5/Apache2/Reload.pm";
    std::fs::create_dir(site.path("lib/Apache2")).expect("a folder in TMPDIR");
    symlink(theirs, site.path("lib/Apache2/Reload.pm")).expect("a link in TMPDIR");
    let server = site.serve(
        "PerlSwitches -Ilib\nPerlModule Show\nPerlModule Apache2::Reload\nPerlInitHandler Apache2::Reload\nPerlSetVar ReloadAll Off\n\
         PerlSetVar ReloadModules \"Camel\"\n<Location /camel>\nSetHandler modperl\nPerlResponseHandler Show\n</Location>",
    );
    let body = server.text("/camel");
    assert!(body.starts_with("1 by ") && body.ends_with("lib/Apache2/Reload.pm"), "{body}");
    server.site.write("lib/Camel.pm", "package Camel;\nsub humps { 2 }\n1;\n");
    // Apache2::Reload compares whole seconds with the server's start. A file written in that second is new to some
    // workers only.
    let changed = File::options().append(true).open(server.site.path("lib/Camel.pm")).expect("the module");
    changed.set_modified(SystemTime::now() + Duration::from_secs(60)).expect("a time of change");
    assert!(server.text("/camel").starts_with("2 by "));
    no_answer_is_wrong_over_reloads(&server, &[(Request::get("/camel"), |r| r.text().starts_with("2 by "))]);
}

const FILLER: &str = r##"form => '"form:first"',
submit => '"true"',
jQueryUrl => "/jquery.js",
publicFormData => { user => '$ENV{REMOTE_USER} eq "ana" ? "admin" : "nobody"', password => '"hidden"' },
secretFormData => { password => '$ENV{REMOTE_USER} eq "ana" ? "ana-secret" : ""' },
"##;
const FORM: &str = "<html><head><title>Log in</title></head><body><form action=\"/login/\" method=\"post\"><input name=\"user\">\
    <input name=\"password\"></form></body></html>";

/// User `ana` with the password `x`.
const ANA: &str = "Basic YW5hOng=";

#[test]
fn form_filler_fills_a_form_on_its_way_out_and_a_post_on_its_way_in() {
    let site = Site::new()
        .file("htdocs/login.html", FORM)
        .file("filler", FILLER)
        .file("users", "ana:{SHA}EfatjsUqKYSrqv18O1FlA3hcIHI=\n");
    let server = site.serve(&format!(
        r#"
        PerlSwitches -I{OURS}/lib
        PerlModule Echo
        PerlModule ReverseProxy::FormFiller
        PerlSetVar FormFillerParamFile "@DIR@/filler"
        <LocationMatch ^/login>
            AuthType Basic
            AuthName x
            AuthUserFile users
            Require valid-user
        </LocationMatch>
        <Location /login.html>
            RequestHeader unset Accept-Encoding
            PerlOutputFilterHandler ReverseProxy::FormFiller::output
        </Location>
        <Location /login/>
            SetHandler modperl
            PerlResponseHandler Echo
            PerlInputFilterHandler ReverseProxy::FormFiller::input
        </Location>
        "#
    ));
    let page = Request::get("/login.html").header("Authorization", ANA);
    let post = Request::post("/login/", "user=eva&password=hidden").header("Authorization", ANA);
    let filled = server.send(page.clone()).is(200);
    assert_eq!(filled.header("content-length"), Some(filled.body.len().to_string()));
    assert!(filled.text().contains("src='/jquery.js'") && filled.text().contains(".val('admin')"), "{filled:?}");
    assert_eq!(server.send(post.clone()).is(200).text(), "got user=admin&password=ana-secret");
    server.get("/login.html").is(401);
    no_answer_is_wrong_over_reloads(
        &server,
        &[
            (page, |r| r.status == 200 && r.text().contains(".val('admin')") && r.text().ends_with("</html>")),
            (post, |r| r.status == 200 && r.text() == "got user=admin&password=ana-secret"),
        ],
    );
}
