//! Applications of frameworks, as files that `plackup` would run.

use crate::support::Site;

const MOJOLICIOUS: &str = r#"#!/usr/bin/perl
use Mojolicious::Lite -signatures;
get '/' => sub ($c) { $c->render(template => 'index') };
get '/name/:name' => sub ($c) { $c->render(text => 'Hello ' . $c->param('name')) };
get '/events' => sub ($c) {
    $c->res->headers->content_type('text/event-stream');
    my $n = 0;
    my $next;
    $next = sub ($c, @) {
        $n++;
        if ($n > 1) { select undef, undef, undef, 0.005 until -e "@DIR@/seen" . ($n - 1) }
        $n > 3 ? $c->finish : $c->write("data: $n\n\n" => $next);
    };
    $next->($c);
};
app->start;
__DATA__
@@ index.html.ep
A template
"#;

#[test]
fn a_mojolicious_lite_program_is_served_as_plackup_serves_it() {
    for name in ["app.pl", "app.psgi", "app.cgi"] {
        let server = Site::new().script(name, MOJOLICIOUS).run([name]);
        assert_eq!(server.text("/").trim(), "A template", "{name}");
        assert_eq!(server.text("/name/Ada"), "Hello Ada", "{name}");
        server.get("/nothing").is(404);
    }
}

#[test]
fn server_sent_events_of_mojolicious_are_sent_one_by_one() {
    let server = Site::new().script("app.pl", MOJOLICIOUS).run(["app.pl"]);
    let mut connection = server.connect();
    connection.raw("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(connection.head().header("content-type").as_deref(), Some("text/event-stream"));
    let mut got = String::new();
    for n in 1..=3 {
        let event = format!("data: {n}\n\n");
        while !got.contains(&event) {
            let chunk = connection.chunk();
            assert!(!chunk.is_empty(), "the stream ended after {got:?}");
            got += &String::from_utf8_lossy(&chunk);
        }
        server.site.write(&format!("seen{n}"), "");
    }
}

#[test]
fn a_dancer_program_is_served_too() {
    for end in ["dance;", "to_app;"] {
        let app = format!("use Dancer2;\nget '/' => sub {{ 'danced' }};\n{end}\n");
        let server = Site::new().script("app.pl", &app).run(["app.pl"]);
        assert_eq!(server.text("/"), "danced", "{end}");
    }
}

#[test]
fn a_cgi_script_is_not_run_to_see_what_it_is_and_has_no_plack_env() {
    let script = "#!/usr/bin/perl\nopen my $f, '>>', '@DIR@/ran'; print $f '.'; close $f; use CGI; \
        print \"Content-Type: text/plain\\n\\n\", exists $ENV{PLACK_ENV} ? 'plack' : 'cgi';\n";
    let server = Site::new().script("app.pl", script).run(["app.pl", "-E", "production"]);
    assert!(!server.site.has("ran"), "nobody has asked yet");
    assert_eq!(server.text("/"), "cgi");
    assert_eq!(server.site.read("ran"), ".");
}

#[test]
fn a_mojolicious_program_among_cgi_scripts_answers_as_one() {
    let server = Site::new().script("cgi-bin/app.pl", MOJOLICIOUS).run(["cgi-bin"]);
    assert_eq!(server.text("/app.pl/name/Ada"), "Hello Ada");
}
