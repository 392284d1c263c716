//! The effect of configurations on requests, and messages about broken ones.

use crate::support::{Finished, Site};

/// `cameleer check` of a configuration; its first line is line 2 of site.conf.
#[track_caller]
fn check(conf: &str) -> Finished {
    let site = Site::new();
    site.configure(conf);
    site.cameleer(["check", "-f", "site.conf"])
}

#[test]
fn a_valid_configuration_is_reported_as_valid() {
    let output = check("MaxClients 5").succeeded();
    assert!(output.out.contains("Syntax OK"), "{output:?}");
}

#[test]
fn every_mistake_is_reported_with_file_line_and_advice() {
    for (conf, at, words) in [
        ("\nMaxClients many", "site.conf:2: ", "MaxClients"),
        ("\n\nMaxClientz 5", "site.conf:3: ", "MaxClients"),
        ("\n<Location /x>\nSetHandler perl-script\n", "site.conf:2: ", "</Location>"),
        ("\n</Location>", "site.conf:2: ", "Location"),
        ("\nInclude missing.conf", "site.conf:2: ", "missing.conf"),
        ("\nKeepAlive Sometimes", "site.conf:2: ", "On"),
        ("\nQueueTimeout soon", "site.conf:2: ", "QueueTimeout"),
        ("\nLimitRequestBody 5X", "site.conf:2: ", "LimitRequestBody"),
        ("\n<Location /x>\nListen 80\n</Location>", "site.conf:3: ", "Listen"),
        ("\nDocumentRoot", "site.conf:2: ", "DocumentRoot"),
        ("\nPerlSetVar One", "site.conf:2: ", "PerlSetVar"),
        ("\nListen ${NOWHERE}", "site.conf:2: ", "NOWHERE"),
    ] {
        let output = check(conf);
        assert_eq!(output.code, 78, "{conf}: {output:?}");
        let line = output
            .err
            .lines()
            .find(|line| line.contains(at))
            .unwrap_or_else(|| panic!("{conf}: no line has {at}: {output:?}"));
        assert!(line.contains(words), "{conf}: {line}");
    }
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let output = check("\nMaxClients many\nKeepAlive Sometimes\n");
    assert!(output.err.contains("site.conf:2: ") && output.err.contains("site.conf:3: "), "{output:?}");
}

#[test]
fn check_compiles_the_perl_and_names_the_broken_line() {
    let site = Site::new().file("lib/Broken.pm", "package Broken;\nuse strict;\n$x = 1;\n1;\n");
    site.configure("\nPerlLib lib\nPerlModule Broken\n");
    let output = site.cameleer(["check", "-f", "site.conf"]);
    assert_eq!(output.code, 78, "{output:?}");
    assert!(output.err.contains("Broken.pm line 3") && output.err.contains("site.conf:3"), "{output:?}");
}

#[test]
fn check_names_every_handler_that_is_not_there() {
    let site = Site::new().file("lib/Here.pm", "package Here; sub handler { 0 } sub access { 0 } 1;");
    let check = |lines: &str| {
        site.configure(&format!("\nPerlLib lib\n<Location /x>\nSetHandler perl-script\n{lines}\n</Location>"));
        site.cameleer(["check", "-f", "site.conf"])
    };
    check("PerlHandler Here Here->handler\nPerlAccessHandler Here::access").succeeded();
    for lines in ["PerlHandler Away", "PerlAccessHandler Away", "PerlLogHandler Here Away", "PerlCleanupHandler +Away"]
    {
        let output = check(lines).failed(78, "site.conf:5: ");
        assert!(output.err.contains("Away"), "{output:?}");
    }
    check("PerlFixupHandler Here::nothing")
        .failed(78, "site.conf:5: PerlFixupHandler: Here::nothing has no sub handler; ");
}

#[test]
fn check_takes_a_program_as_run_does() {
    let site = Site::new().file("good.psgi", "sub { }").file("bad.psgi", "sub {\n");
    site.cameleer(["check", "good.psgi"]).succeeded();
    let output = site.cameleer(["check", "bad.psgi"]);
    assert_eq!(output.code, 78, "{output:?}");
    assert!(output.err.contains("bad.psgi line"), "{output:?}");
}

#[test]
fn no_port_is_bound_before_the_whole_configuration_is_read() {
    let site = Site::new();
    let _holder = std::net::TcpListener::bind(("127.0.0.1", site.port)).expect("bound");
    site.configure("\nMaxClients many");
    site.cameleer(["serve", "-f", "site.conf"]).failed(78, "site.conf:2: MaxClients");
}

#[test]
fn includes_definitions_and_conditions_work_as_in_apache() {
    let server = Site::new()
        .file("conf.d/10-a.conf", "Alias /a/ \"${FOLDER}/\"\n")
        .file("conf.d/20-b.conf", "<IfDefine Extra>\nAlias /b/ \"${FOLDER}/\"\n</IfDefine>\n<IfModule mod_nothing.c>\nNoSuchDirective\n</IfModule>\n")
        .file("shared/x.txt", "x\n")
        .serve("Define FOLDER \"@DIR@/shared\"\nDefine Extra\nInclude conf.d/*.conf\nIncludeOptional none/*.conf");
    assert_eq!(server.text("/a/x.txt") + &server.text("/b/x.txt"), "x\nx\n");
}

#[test]
fn lines_may_be_continued_and_quoted() {
    let server =
        Site::new().file("a folder/x.txt", "x\n").serve("Alias \\\n  /a/ \\\n  \"@DIR@/a folder/\"\n# a comment\n");
    assert_eq!(server.text("/a/x.txt"), "x\n");
}

#[test]
fn sections_merge_in_apaches_order_directory_files_location() {
    let show = "package Show; sub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print($r->dir_config('From')); 0 } 1;";
    let server = Site::new().file("lib/Show.pm", show).file("htdocs/a.x", "").file("htdocs/in/b.x", "").serve(
        "PerlLib lib\nPerlModule Show\nPerlSetVar From server\nSetHandler perl-script\nPerlHandler Show\n\
         <Location /loc>\nPerlSetVar From location\n</Location>\n\
         <Files *.x>\nPerlSetVar From files\n</Files>\n\
         <Directory \"@DIR@/htdocs/in\">\nPerlSetVar From directory\n</Directory>",
    );
    for (path, from) in
        [("/none", "server"), ("/loc/y", "location"), ("/a.x", "files"), ("/in/b.x", "files"), ("/in/y", "directory")]
    {
        assert_eq!(server.text(path), from, "{path}");
    }
}

#[test]
fn location_match_and_wildcards_choose_by_pattern() {
    let server = Site::new().file("yes.psgi", "sub { [200, [], ['matched']] }").serve(
        "<LocationMatch \"^/(one|two)/\">\nPsgiApp yes.psgi\n</LocationMatch>\n<Location /any/*/x>\nPsgiApp yes.psgi\n</Location>",
    );
    for (path, status) in [("/one/a", 200), ("/two/b", 200), ("/three/c", 404), ("/any/thing/x", 200), ("/any/x", 404)]
    {
        assert_eq!(server.get(path).status, status, "{path}");
    }
}

#[test]
fn script_alias_makes_scripts_of_all_that_lies_there() {
    let server = Site::new()
        .script(
            "cgi/env.cgi",
            "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\n$ENV{SCRIPT_NAME} $ENV{PATH_INFO}\";",
        )
        .serve("ScriptAlias /cgi-bin/ \"@DIR@/cgi/\"");
    assert_eq!(server.text("/cgi-bin/env.cgi/more"), "/cgi-bin/env.cgi /more");
}

#[test]
fn files_sections_make_scripts_by_extension() {
    let server = Site::new()
        .script("htdocs/run.cgi", "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\nran\";")
        .file("htdocs/read.txt", "read\n")
        .serve("<Files *.cgi>\nSetHandler cgi-script\nOptions +ExecCGI\n</Files>");
    assert_eq!(server.text("/run.cgi") + &server.text("/read.txt"), "ranread\n");
}

#[test]
fn perl_is_loaded_in_the_order_of_the_file() {
    let add = |name: &str| format!("push @main::order, '{name}'; 1;");
    let server = Site::new()
        .file("lib/One.pm", &add("module"))
        .file("startup.pl", &add("require"))
        .file("app.psgi", "my $o = join ' ', @main::order; sub { [200, [], [$o]] }")
        .serve("PerlLib lib\nPerlRequire startup.pl\nPerlModule One\nPerlEval \"push @main::order, 'eval'\"\n<Location />\nPsgiApp app.psgi\n</Location>");
    assert_eq!(server.text("/"), "require module eval");
}

#[test]
fn perl_pass_env_and_set_env_choose_what_scripts_see() {
    let site = Site::new().script(
        "cgi/env.cgi",
        "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\n\", join ',', map { $ENV{$_} // '-' } qw(PASSED HELD SET);",
    );
    site.configure("ScriptAlias /cgi-bin/ \"@DIR@/cgi/\"\nPerlPassEnv PASSED\nPerlSetEnv SET s");
    let mut command = site.serve_command();
    command.env("PASSED", "p").env("HELD", "h");
    let server = crate::support::Server::start(site, command);
    assert_eq!(server.text("/cgi-bin/env.cgi"), "p,-,s");
}

#[test]
fn user_code_runs_as_the_configured_user() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let site = Site::new().file("app.psgi", "my $load = $>; sub { [200, [], [\"$load $> $( \" . (getpwuid $>)[0]]] }");
    // `daemon` is not the default group of `nobody`, so the group has an effect.
    let server = site.serve("User nobody\nGroup daemon\n<Location />\nPsgiApp app.psgi\n</Location>");
    let body = server.text("/");
    let (user, group) = (nix::unistd::User::from_name("nobody"), nix::unistd::Group::from_name("daemon"));
    let user = user.ok().flatten().expect("every Debian has it").uid;
    let group = group.ok().flatten().expect("every Debian has it").gid;
    assert!(body.starts_with(&format!("{user} {user} {group} ")) && body.ends_with("nobody"), "{body}");
}
