//! The environment of a program is the same whether a process without Perl starts it or a worker with Perl.

use crate::support::{Request, Server, Site};

/// A program that prints its environment, its arguments, its folder, its mask and its input.
const ALL: &str = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\n/usr/bin/env -0 | sort -z | tr '\\000' '\\n'\necho \"$# $*\"; pwd; umask; cat\n";
/// Code whose changes CGI programs must see.
const START_UP: &str = "package Mark; $ENV{PATH} = '/opt/marked:/usr/bin:/bin'; $ENV{SECRET} = 'secret'; $ENV{CHANGED} = 'by start-up';\n\
    sub ok { 0 } 1;";

/// All directives that affect the environment of a program.
const CONF: &str = "StartServers 1\nMaxClients 2\nServerAdmin me@example.org\nServerTokens Full\nPerlLib lib\n\
    PerlSetEnv CHANGED said\nPerlModule Mark\nSetEnv SET \"by SetEnv\"\nPassEnv HOME\nUnsetEnv UNSET\nPerlPassEnv LANG\n\
    SetEnvIf User-Agent camel BROWSER=$0\nSetEnvIf Request_URI ^/cgi/ IN_CGI\nDefaultLanguage en\n\
    ScriptAlias /cgi/ @DIR@/scripts/\nScriptAlias /one @DIR@/scripts/test\nErrorDocument 404 /cgi/test?missing\n\
    <Directory @DIR@/scripts>\nPerlSetEnv OWN own\nPerlSetEnv SERVER_ADMIN other\nSetEnv SERVER_NAME fake\nAllowOverride All\n</Directory>\n\
    AddHandler cgi-script .cgi\nOptions +ExecCGI\n\
    <Location /secure>\nAuthType Basic\nAuthName place\nAuthUserFile @DIR@/users\nRequire valid-user\n</Location>\n\
    ScriptAlias /secure/ @DIR@/scripts/\n";

fn serve(lines: &str) -> Server {
    Site::new()
        .script("scripts/test", ALL)
        .script("htdocs/a.cgi", ALL)
        .file("scripts/.htaccess", "SetEnv HTACCESS yes\n")
        .file("lib/Mark.pm", START_UP)
        .file("users", "ann:{SHA}C+7Hteo/D9vJXQ3UfzxbwnXaijM=\n")
        .serve(&format!("{lines}{CONF}"))
}

/// Responses of a server, without what differs from one server to another.
fn responses(server: &Server) -> Vec<(String, String)> {
    let headers = |request: Request| {
        request
            .header("User-Agent", "camel/1.0")
            .header("Cookie", "a=b")
            .header("Cookie", "c=d")
            .header("X-Own", "own")
            .header("X_Own", "other")
            .header("Proxy", "evil")
            .header("Accept", "text/html")
            .header("Accept", "*/*")
    };
    let requests = [
        Request::get("/cgi/test"),
        Request::get("/cgi/test/more/path?a=b&c=%20"),
        Request::get("/cgi/test?one+t%77o"),
        Request::get("/one/x%2fy//z"),
        Request::get("/cgi//test"),
        Request::get("/a.cgi/more"),
        Request::get("/none"),
        Request::get("/cgi/none"),
        Request::post("/cgi/test/p?q", "a=b&c=d"),
        Request::new("PUT", "/cgi/test").body("x".repeat(200_000)),
        Request::new("OPTIONS", "/cgi/test"),
        Request::get("/secure/test").header("Authorization", "Basic YW5uOmZvbw=="),
    ];
    let folder = server.site.folder().to_string_lossy().into_owned();
    let real = std::fs::canonicalize(server.site.folder()).expect("it is there").to_string_lossy().into_owned();
    let plain = |text: String| {
        let differs = |name: &str| matches!(name.trim_start_matches("REDIRECT_"), "REMOTE_PORT" | "UNIQUE_ID");
        let lines = text.lines().filter(|line| !differs(line.split('=').next().unwrap_or_default()));
        let text = lines.collect::<Vec<_>>().join("\n");
        text.replace(&real, "@DIR@").replace(&folder, "@DIR@")
    };
    let answer = |request: Request| {
        let response = server.send(headers(request));
        let heads = ["content-type", "content-language", "location"].map(|name| response.header(name));
        (format!("{} {heads:?}", response.status), plain(response.text()))
    };
    requests.into_iter().map(answer).collect()
}

#[test]
fn all_variables_are_those_of_a_worker_with_perl() {
    for generation in [1, 2] {
        let lines = format!("PerlGeneration {generation}\n");
        let alone = serve(&lines);
        let with_perl = serve(&format!(
            "{lines}<LocationMatch \"^/(cgi|one|a|secure)\">\nPerlFixupHandler Mark::ok\n</LocationMatch>\n"
        ));
        let (found, wanted) = (responses(&alone), responses(&with_perl));
        for (number, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
            // The ports of the two servers differ.
            assert_eq!(
                without_port(&alone, found),
                without_port(&with_perl, wanted),
                "request {number}, generation {generation}"
            );
        }
        let text = &found[0].1;
        for line in [
            "PATH=/opt/marked:/usr/bin:/bin",
            "SET=by SetEnv",
            "OWN=own",
            "HTACCESS=yes",
            "BROWSER=camel",
            "HTTP_COOKIE=a=b; c=d",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is missing in {text}");
        }
        assert!(!text.contains("SECRET") && !text.contains("MOD_PERL"), "{text}");
    }
}

/// Replaces the port of the server's address.
fn without_port(server: &Server, response: &(String, String)) -> (String, String) {
    let (head, text) = response;
    let port = server.get("/cgi/test").text();
    let port = port.lines().find_map(|line| line.strip_prefix("SERVER_PORT=")).expect("it has a port").to_owned();
    (head.clone(), text.replace(&format!(":{port}"), ":PORT").replace(&format!("_PORT={port}"), "_PORT=PORT"))
}

#[test]
fn a_program_of_another_pool_finds_what_the_code_of_that_pool_has_set() {
    let site = |handler: &str| {
        Site::new()
            .script("scripts/test", ALL)
            .file("lib/Own.pm", "package Own; $ENV{PATH} = '/own:/usr/bin:/bin'; 1;")
            .file("lib/Other.pm", "package Other; $ENV{PATH} = '/other:/usr/bin:/bin'; sub ok { 0 } 1;")
            .serve(&format!(
                "PerlGeneration 2\nPerlLib lib\nPerlModule Own\n<WorkerPool old>\nPerlGeneration 1\nPerlLib lib\nPerlModule Other\n</WorkerPool>\n\
                 ScriptAlias /new/ @DIR@/scripts/\nScriptAlias /old/ @DIR@/scripts/\n<Location /old>\nPerlPool old\n{handler}\n</Location>\n"
            ))
    };
    let (alone, with_perl) = (site(""), site("PerlFixupHandler Other::ok"));
    let of = |server: &Server, target: &str| {
        let text = server.text(target).replace(&server.site.filled("@DIR@"), "@DIR@");
        let is_same = |line: &&str| {
            !line.contains("_PORT=") && !line.starts_with("HTTP_HOST=") && !line.starts_with("UNIQUE_ID=")
        };
        text.lines().filter(is_same).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(of(&alone, "/new/test").contains(&"PATH=/own:/usr/bin:/bin".to_owned()));
    assert!(of(&alone, "/old/test").contains(&"PATH=/other:/usr/bin:/bin".to_owned()));
    assert_eq!(of(&alone, "/old/test"), of(&with_perl, "/old/test"));
}

/// `CGIPassAuth` gives programs the client's password, which they do not get without it, and never that for a proxy.
#[test]
fn programs_get_the_password_of_the_client_where_cgi_pass_auth_allows() {
    let server = Site::new().script("scripts/test", ALL).script("open/test", ALL).file("lib/Mark.pm", START_UP).serve(
        "PerlLib lib\nPerlModule Mark\nScriptAlias /cgi/ @DIR@/scripts/\nScriptAlias /open/ @DIR@/open/\n\
         <Directory @DIR@/open>\nCGIPassAuth On\n</Directory>\n<Location /open/test/perl>\nPerlFixupHandler Mark::ok\n</Location>\n\
         <Location /open/test/closed>\nCGIPassAuth Off\n</Location>\n",
    );
    let password = |path: &str| {
        let request =
            Request::get(path).header("Authorization", "Basic YTpi").header("Proxy-Authorization", "Basic YzpkZQ==");
        let text = server.send(request).text();
        assert!(text.contains("REQUEST_METHOD=GET") && !text.contains("PROXY_AUTHORIZATION"), "{text}");
        text.contains("HTTP_AUTHORIZATION=Basic YTpi\n")
    };
    assert!(!password("/cgi/test") && !password("/open/test/closed"));
    assert!(password("/open/test") && password("/open/test/perl"));
}

/// Shells know only such names; httpd passes others on in the same way.
#[test]
fn names_of_variables_consist_of_letters_digits_and_underscores() {
    let server = Site::new()
        .script("scripts/test", ALL)
        .serve("ScriptAlias /cgi/ @DIR@/scripts/\nSetEnv a-b.c 1\nSetEnv 2nd 2\nSetEnv d3 3");
    let text = server.text("/cgi/test");
    for line in ["a_b_c=1", "_nd=2", "d3=3"] {
        assert!(text.lines().any(|known| known == line), "{line}: {text}");
    }
}
