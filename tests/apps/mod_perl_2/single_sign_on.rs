//! Debian's LemonLDAP::NG: its handler protects the page that the package has for tests, with the package's own lines
//! for httpd.

use std::process::Command;

use super::no_answer_is_wrong_over_reloads;
use crate::support::{Finished, Request, Response, Server, Site};

const HANDLER: &str = "/etc/lemonldap-ng/handler-apache2.X.conf";
const PAGES: &str = "/usr/share/doc/lemonldap-ng-handler/examples";

/// Derives the configuration from the package's: sessions in files, and one place for a group.
const CONFIGURE: &str = r#"
    use JSON; my ($from, $to, $dir) = @ARGV;
    local $/; open my $in, '<', $from or die "$from: $!"; my $all = decode_json(<$in>);
    $all->{locationRules}{'test1.example.com'}{'^/team'} = 'inGroup("team")';
    $all->{globalStorage} = 'Apache::Session::File';
    $all->{globalStorageOptions} = { Directory => "$dir/sessions", LockDirectory => "$dir/sessions/lock" };
    open my $out, '>', $to or die "$to: $!"; print $out encode_json($all);
"#;

/// Creates a user's session as the portal does.
const LOG_IN: &str = r#"
    use Lemonldap::NG::Common::Session; my ($dir, $user, $groups) = @ARGV;
    my $session = Lemonldap::NG::Common::Session->new({ kind => 'SSO', storageModule => 'Apache::Session::File',
        storageModuleOptions => { Directory => "$dir/sessions", LockDirectory => "$dir/sessions/lock",
            generateModule => 'Lemonldap::NG::Common::Apache::Session::Generate::SHA256' },
        info => { uid => $user, _user => $user, _whatToTrace => $user, groups => $groups, hGroups => { $groups => {} }, _utime => time, ipAddr => '127.0.0.1' } });
    print $session->id // die $session->error;
"#;

#[track_caller]
fn perl(program: &str, arguments: &[&str]) -> String {
    Finished::of(Command::new("perl").arg("-e").arg(program).args(arguments)).succeeded().out
}

#[track_caller]
fn packaged(file: &str, replaced: &[(&str, &str)]) -> String {
    let text = std::fs::read_to_string(file).expect("packages of pkg/debian-packages/test.txt");
    replaced.iter().fold(text, |text, (from, to)| text.replace(from, to))
}

/// The server, and the session keys of `ana`, who is in the team, and of `ben`, who is not.
#[track_caller]
fn serve() -> (Server, String, String) {
    let site = Site::new();
    let (dir, host) = (site.folder().to_string_lossy().into_owned(), format!("\"*:{}\"", site.port));
    for name in ["conf", "sessions/lock", "cache"] {
        std::fs::create_dir_all(site.path(name)).expect("a folder in TMPDIR");
    }
    perl(CONFIGURE, &["/var/lib/lemonldap-ng/conf/lmConf-1.json", &format!("{dir}/conf/lmConf-1.json"), &dir]);
    let ini = packaged("/etc/lemonldap-ng/lemonldap-ng.ini", &[("/var/lib/lemonldap-ng", &dir)]);
    site.write("lemonldap-ng.ini", &ini);
    site.write("handler.conf", &packaged(HANDLER, &[("\"*:80\"", &host)]));
    let pages = packaged(
        &format!("{PAGES}/test-apache2.X.conf"),
        &[("\"*:80\"", &host), ("/var/lib/lemonldap-ng/test/", &format!("{PAGES}/test/"))],
    );
    site.write("pages.conf", &pages);
    let keys = [("ana", "team"), ("ben", "others")].map(|(user, groups)| perl(LOG_IN, &[&dir, user, groups]));
    let [ana, ben] = keys;
    let folders = ["conf", "sessions", "cache"].map(|name| site.path(name));
    Finished::of(Command::new("chmod").args(["-R", "a+rwX"]).args(folders)).succeeded();
    let conf = "PerlSetEnv LLNG_DEFAULTCONFFILE \"@DIR@/lemonldap-ng.ini\"\nInclude handler.conf\nInclude pages.conf";
    (site.serve(conf), ana, ben)
}

fn page(target: &str, key: &str) -> Request {
    Request::get(target).header("Host", "test1.example.com").header("Cookie", &format!("lemonldap={key}"))
}

/// Whether the response redirects to the portal, with the way back in `url`.
fn is_led_away(response: &Response) -> bool {
    response.status == 302
        && response.header("location").is_some_and(|to| to.starts_with("http://auth.example.com/?url="))
}

#[test]
fn a_user_with_a_session_gets_the_page_and_others_a_redirect_to_the_portal() {
    let (server, ana, ben) = serve();
    for _ in 0..2 {
        assert!(is_led_away(&server.send(page("/index.pl", "0123456789"))));
        for (key, user, group) in [(&ana, "ana", "team"), (&ben, "ben", "others")] {
            let body = server.send(page("/index.pl", key)).is(200).text();
            // The handler sends these values to the program as headers, and httpd puts them into the environment.
            for part in [
                format!("$ENV{{HTTP_AUTH_USER}}</tt>: {user}<"),
                format!("$ENV{{REMOTE_USER}}</tt>: {user}<"),
                format!("<td id=\"v-Auth-Groups\">{group}</td>"),
            ] {
                assert!(body.contains(&part), "{part}: {body}");
            }
        }
        // The page does not exist: a user with access is redirected to the page for the error 404.
        for (key, status) in [(&ana, 404), (&ben, 403)] {
            let answer = server.send(page("/team/none", key)).is(302);
            assert_eq!(answer.header("location"), Some(format!("http://auth.example.com/lmerror/{status}")));
        }
    }
    let out = server.send(page("/logout", &ana)).is(302);
    assert!(out.header("location").is_some_and(|to| to.starts_with("http://auth.example.com/")), "{out:?}");
    server.send(Request::get("/reload").header("Host", "reload.example.com")).is(200);
}

#[test]
fn under_load_and_over_reloads_each_client_gets_its_own_response() {
    let (server, ana, ben) = serve();
    no_answer_is_wrong_over_reloads(
        &server,
        &[
            (page("/index.pl", &ana), |r| r.status == 200 && r.text().contains("HTTP_AUTH_USER}</tt>: ana<")),
            (page("/index.pl", &ben), |r| r.status == 200 && r.text().contains("HTTP_AUTH_USER}</tt>: ben<")),
            (page("/index.pl", "0123456789"), is_led_away),
        ],
    );
}
