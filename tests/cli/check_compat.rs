//! `check --compat`, on sites that use supported and unsupported parts of the API.

use crate::support::Site;

/// A site with its own module, a script, and a call that the compatibility table does not list.
fn site() -> Site {
    let site = Site::new()
        .file("startup.pl", "use lib '@DIR@/lib';\nuse Apache::Constants ();\n1;\n")
        .file(
            "lib/My/Page.pm",
            "package My::Page;\n\nsub handler {\n    my $r = shift;\n    $r->send_http_header('text/plain');\n    $r->no_such_method;\n    0;\n}\n\n1;\n",
        )
        .script("cgi/a.cgi", "#!/usr/bin/perl\nuse Apache2::RequestRec;\nprint 1;\n");
    site.configure(
        "PerlRequire startup.pl\nPerlLib @DIR@/lib\nAlias /cgi/ @DIR@/cgi/\nThreadsPerChild 5\n\
         <Location /page>\nSetHandler perl-script\nPerlHandler My::Page\n</Location>\n",
    );
    site
}

#[test]
fn a_survey_names_file_and_line_of_what_is_green_and_of_what_is_red() {
    let site = site();
    let output = site.cameleer(["check", "--compat", "-f", "site.conf"]).failed(1, "will not run unchanged");
    for expected in [
        "site.conf:2: green PerlRequire",
        "green PerlHandler",
        "startup.pl:2: green Apache::Constants",
        "lib/My/Page.pm:5: green Apache::send_http_header",
        "lib/My/Page.pm:6: red   Apache::no_such_method: is no method of mod_perl 1",
        "cgi/a.cgi:2: red   Apache2::RequestRec: is mod_perl 2's API",
    ] {
        assert!(output.out.contains(expected), "{expected}\n{}", output.out);
    }
    let red = site.cameleer(["check", "--red", "-f", "site.conf"]).failed(1, "will not run unchanged");
    assert_eq!(red.out.lines().filter(|line| line.contains(": red   ")).count(), 2, "{red:?}");
    assert!(red.out.lines().count() == 3 && red.out.ends_with(" 2 red\n"), "{red:?}");
}

#[test]
fn a_site_without_anything_red_succeeds() {
    let site = Site::new();
    site.configure("<Location /a>\nSetHandler perl-script\nPerlHandler Apache::Registry\n</Location>\n");
    let output = site.cameleer(["check", "--compat", "-f", "site.conf"]).succeeded();
    assert!(output.out.contains("0 amber, 0 red"), "{}", output.out);
}

#[test]
fn lines_without_effect_and_directives_of_the_sites_own_modules_are_amber() {
    let site = Site::new().file(
        "lib/Paint.pm",
        "package Paint;\nuse Apache::ExtUtils qw(command_table);\ncommand_table([{ name => 'Color', func => 'color' }]);\n1;\n",
    );
    site.configure("PerlLib @DIR@/lib\nPerlModule Paint\nColor red\nThreadsPerChild 5\n");
    let output = site.cameleer(["check", "--compat", "-f", "site.conf"]).succeeded();
    for expected in ["site.conf:4: amber Color", "site.conf:5: amber ThreadsPerChild", " 2 amber, 0 red"] {
        assert!(output.out.contains(expected), "{expected}\n{}", output.out);
    }
}

#[test]
fn methods_that_a_request_has_of_other_modules_are_green() {
    let site = Site::new().script(
        "htdocs/a.pl",
        "use Apache::File ();\nmy $r = shift;\n$r->set_last_modified;\n$r->parsed_uri->path;\n\
         my $s = $r->lookup_uri('/x')->status;\n$r->log->error('x');\n",
    );
    site.configure("");
    let output = site.cameleer(["check", "--compat", "-f", "site.conf"]).succeeded();
    for expected in ["a.pl:3: green Apache::set_last_modified", "a.pl:4: green Apache::URI::path", "0 amber, 0 red"] {
        assert!(output.out.contains(expected), "{expected}\n{}", output.out);
    }
}

#[test]
fn a_directive_that_check_refuses_is_never_green() {
    let site = Site::new();
    let conf = "\nMaxClients many\nCustomLog a.log \"%Z\"\nLoadModule dav_module modules/mod_dav.so\n\
                <Location /a>\nSetHandler\n</Location>\nSSLCertificateFile none.pem\nListen 127.0.0.1:1 https\n";
    site.configure(conf);
    let refused = site.cameleer(["check", "-f", "site.conf"]).failed(78, "site.conf:2: ");
    let output = site.cameleer(["check", "--compat", "-f", "site.conf"]).failed(1, "will not run");
    let numbers = refused.err.lines().filter_map(|line| line.split_once("site.conf:")?.1.split(':').next());
    for number in numbers {
        let at = format!("site.conf:{number}: ");
        let line = output.out.lines().find(|line| line.contains(&at));
        assert!(line.is_some_and(|line| line.contains(" red ")), "{at}: {refused:?} {output:?}");
    }
    assert!(output.out.contains("site.conf:4: amber LoadModule: dav_module"), "{}", output.out);
}

#[test]
fn blocks_of_modules_that_are_not_there_are_surveyed_too() {
    let site = Site::new();
    site.configure(
        "\n<IfModule mod_dav.c>\nDavMinTimeout 600\nDavLockDB /a\n<Directory \"@DIR@\">\nOptions None\n</Directory>\n\
         </IfModule>\n<IfModule !mod_perl.c>\nNoSuchDirective\n</IfModule>\n",
    );
    site.cameleer(["check", "-f", "site.conf"]).succeeded();
    let output = site.cameleer(["check", "--compat", "-f", "site.conf"]).succeeded();
    for expected in [
        "site.conf:2: amber <IfModule mod_dav.c>",
        "site.conf:4: amber DavLockDB: is skipped: it is in an <IfModule> of a missing module; otherwise: is not supported",
        "site.conf:6: amber Options",
    ] {
        assert!(output.out.contains(expected), "{expected}\n{}", output.out);
    }
    assert!(!output.out.contains("NoSuchDirective"), "that is for servers without Perl: {}", output.out);
}

#[test]
fn an_include_without_a_match_or_an_unknown_name_does_not_end_the_survey() {
    let site = Site::new().file("lib/My.pm", "package My;\nsub handler { $_[0]->no_such_method }\n1;\n");
    site.configure(
        "\nInclude none/*.conf\nNoSuchDirective on\n<Location /a>\nSetHandler perl-script\nPerlHandler My\n</Location>\nPerlLib lib\n",
    );
    let output = site.cameleer(["check", "--compat", "-f", "site.conf"]).failed(1, "will not run");
    for expected in [
        "site.conf:2: red   Include: no file matches",
        "site.conf:3: red   NoSuchDirective",
        "site.conf:6: green PerlHandler",
    ] {
        assert!(output.out.contains(expected), "{expected}\n{}", output.out);
    }
}

#[test]
fn modules_of_mod_perl_2_are_judged_where_the_configuration_speaks_of_it() {
    let page = "package My::Page;\nuse Apache2::RequestRec ();\nuse APR::Table ();\nuse Apache2::Filter ();\nuse ModPerl::Interpreter ();\n\
        use Apache2::NoSuchThing ();\nsub handler { $_[0]->no_such_method; 0 }\n1;\n";
    let site = Site::new().file("lib/My/Page.pm", page);
    site.configure(
        "PerlLib @DIR@/lib\n<Location /page>\nSetHandler modperl\nPerlResponseHandler My::Page\n</Location>\n",
    );
    let output = site.cameleer(["check", "--compat", "-f", "site.conf"]).failed(1, "will not run unchanged");
    for expected in [
        "green PerlResponseHandler",
        "lib/My/Page.pm:2: green Apache2::RequestRec",
        "lib/My/Page.pm:3: green APR::Table",
        "lib/My/Page.pm:4: amber Apache2::Filter: ",
        "lib/My/Page.pm:5: red   ModPerl::Interpreter: is not available: a worker is a process with one interpreter",
        "lib/My/Page.pm:6: red   Apache2::NoSuchThing: is not found in @INC",
        " 1 amber, 2 red",
    ] {
        assert!(output.out.contains(expected), "{expected}\n{}", output.out);
    }
}

#[test]
fn a_module_that_is_not_offered_ends_the_start_with_what_to_use() {
    let site = Site::new();
    site.configure(
        "PerlGeneration 2\nPerlModule ModPerl::Interpreter\n<Location /a>\nSetHandler modperl\n</Location>\n",
    );
    let message = "ModPerl::Interpreter is not available: workers are processes with one interpreter each";
    site.cameleer(["check", "-f", "site.conf"]).failed(78, message);
}

#[test]
fn perl_of_a_block_that_is_skipped_is_not_judged() {
    let site = Site::new().file("lib/Odd.pm", "package Odd;\nsub handler { Apache->no_such_method }\n1;\n");
    let block = "PerlLib lib\n<Perl>\nApache->no_such_method;\n</Perl>\nPerlModule Odd\n";
    site.configure(&format!(
        "\n<IfModule mod_none.c>\n{block}</IfModule>\n<IfDefine NONE>\nNoSuchDirective\n{block}</IfDefine>\n"
    ));
    site.cameleer(["check", "-f", "site.conf"]).succeeded();
    let output = site.cameleer(["check", "--compat", "-f", "site.conf"]).succeeded();
    assert!(!output.out.contains("no_such_method"), "{}", output.out);
}
