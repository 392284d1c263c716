//! Further Debian packages for mod_perl 1, unmodified, in one site with a start-up file in the style of the guides.

use crate::apps::soap;
use crate::support::{Load, Server, Site};

#[track_caller]
fn serve() -> Server {
    let packages = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/apps/packaged/site/packages");
    let site = Site::new();
    std::fs::create_dir(site.path("sessions")).expect("a folder in TMPDIR");
    site.serve(&format!(
        r#"
        PerlLib {packages}/lib
        PerlRequire {packages}/startup.pl
        PerlModule Apache::SOAP
        <Location /soap>
            SetHandler perl-script
            PerlHandler Apache::SOAP
            PerlSetVar dispatch_to "Packaged::Calculator"
        </Location>
        <Location /counter>
            SetHandler perl-script
            PerlHandler Packaged::Counter
            PerlSetVar SessionFolder "@DIR@/sessions"
        </Location>
        <Location /page>
            SetHandler perl-script
            PerlHandler Packaged::Page
        </Location>
        ScriptAlias /cgi/ {packages}/scripts/
        <Location /cgi>
            CgiMode persistent
        </Location>
        "#
    ))
}

#[test]
fn soap_lite_calls_apache_soap() {
    let server = serve();
    for _ in 0..2 {
        assert_eq!(soap(&server, "add(1, 2, 39)"), "42");
        assert_eq!(soap(&server, "divide(1, 4)"), "0.25");
        assert_eq!(soap(&server, "divide(1, 0)"), "soap:Client.Zero nothing is divided by zero");
        assert!(soap(&server, "system('id')").starts_with("soap:Client "));
    }
    server.get("/soap").is(400);
}

#[test]
fn apache_session_and_singleton_count_under_load_and_across_a_reload() {
    let server = serve();
    let first = server.text("/counter");
    let id = first.split(' ').next().and_then(|word| word.strip_prefix("id=")).expect("an id");
    let target = format!("/counter?id={id}");
    let load = Load::start(&server, 3, &target, |response| response.text().ends_with(" asked=2\n"));
    load.until_answered(20);
    server.reload().succeeded();
    load.until_answered(20);
    let (answered, failures) = load.end();
    assert_eq!(failures, Vec::<String>::new());
    let last = server.text(&target);
    assert!(last.contains(&format!(" count={} asked=2", answered + 2)), "{last}");
}

#[test]
fn template_toolkit_and_a_table_of_the_start_up_answer() {
    let server = serve();
    for name in ["a", "b"] {
        let page = server.text(&format!("/page?name=%3C{name}%3E"));
        assert!(page.contains("<li>3: 9</li>") && page.contains(&format!("<p>&lt;{name}&gt;</p>")), "{page}");
    }
}

#[test]
fn cgi_application_runs_as_a_kept_script() {
    let server = serve();
    for _ in 0..2 {
        assert!(server.text("/cgi/application.pl").contains("<h1>Goods</h1>"));
        let basket = server.post("/cgi/application.pl", "rm=basket&item=%3Cpen%3E").is(200);
        assert!(basket.text().contains("In the basket: &lt;pen&gt;"), "{basket:?}");
        assert!(basket.header("set-cookie").is_some_and(|cookie| cookie.starts_with("basket=%3Cpen%3E")));
        let away = server.get("/cgi/application.pl?rm=away").is(302);
        assert_eq!(away.header("location").as_deref(), Some("http://localhost/elsewhere"));
    }
}
