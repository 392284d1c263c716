//! mod_perl.c's perl_startup and perl_config.c's perl_pod_section.

use super::{serve, site};

const SHOW: &str = "SetHandler perl-script\nPerlHandler Who\nPerlSetVar who";

#[test]
fn modules_are_found_in_server_root_and_in_its_lib_perl() {
    let server = site()
        .file("lib/perl/There.pm", "package There; our $who = 'there'; 1;")
        .file("conf/more.pl", "package More; our $who = 'more'; 1;")
        .serve("PerlLib lib\nPerlModule There\n<Perl>\nrequire 'conf/more.pl';\n$SetHandler = 'perl-script'; $PerlHandler = 'Who';\n\
                $PerlSetVar = \"who $There::who,$More::who,$INC[-2],$INC[-1]\";\n</Perl>");
    assert_eq!(server.text("/"), server.site.filled("who=there,more,@DIR@,@DIR@/lib/perl"));
}

#[test]
fn the_variables_of_a_start_have_their_older_names_too() {
    let server = serve(
        "<Perl>\n$PerlSetVar = 'who ' . join ',', \\$Apache::Server::Starting == \\$Apache::ServerStarting ? 'same' : 'other',\n\
         \\$Apache::Server::ReStarting == \\$Apache::ServerReStarting ? 'same' : 'other', $Apache::ServerStarting, $Apache::ServerReStarting;\n\
         $SetHandler = 'perl-script'; $PerlHandler = 'Who';\n</Perl>",
    );
    assert_eq!(server.text("/"), "who=same,same,1,0");
    server.reload().succeeded();
    assert_eq!(server.text("/"), "who=same,same,1,1");
}

#[test]
fn directives_between_over_to_apache_and_back_to_pod_count() {
    let server = serve(&format!(
        "=pod\n\n =head1 is no end\n\nListen nonsense\n\n=over to apache\n\n {SHOW} inside\n\n=back to pod\n\n=over 4\n\nNonsense\n\n\
         =back\n\n=over to httpd\nPerlSetEnv X y\n=cut\n"
    ));
    assert_eq!(server.text("/"), "who=inside");
}
