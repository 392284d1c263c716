//! `<Perl>` of mod_perl 2: its packages, its server object, and the directives made of its variables.

use super::site;
use crate::support::{Server, Site};

/// A handler that evaluates the query string as Perl and prints the result.
const SAYS: &str = "package Says;\nuse strict;\nuse warnings;\nuse Apache2::RequestRec ();\nuse Apache2::RequestIO ();\n\
    use Apache2::RequestUtil ();\n\
    sub handler { my $r = shift; $r->content_type('text/plain'); no strict 'refs'; \
    (my $code = $r->args) =~ s/%3E/>/g; my $said = eval $code; $r->print($said // $@); 0 }\n1;\n";

#[track_caller]
fn serve(conf: &str) -> Server {
    let head = "MaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlModule Says\n<Location /says>\nSetHandler modperl\n\
        PerlResponseHandler Says\n</Location>\n";
    Site::new().file("lib/Says.pm", SAYS).file("docs/page.html", "a page").serve(&format!("{head}{conf}"))
}

#[track_caller]
fn evaluated(server: &Server, code: &str) -> String {
    server.get(&format!("/says?{}", code.replace('>', "%3E"))).text()
}

#[test]
fn each_section_has_a_package_made_from_its_file_and_line() {
    let server = serve(
        "<Perl>\n$Say::package = __PACKAGE__;\n$Say::line = __LINE__;\n$Say::zero = $0 eq __FILE__ ? 'the file' : $0;\n\
         $local = 5;\n</Perl>\n<Perl>\n$Say::other = __PACKAGE__;\n$Say::seen = defined $local ? 'seen' : 'unseen';\n</Perl>",
    );
    let package = evaluated(&server, "$Say::package");
    let line: u32 = evaluated(&server, "$Say::line").parse().expect("a line");
    assert!(package.starts_with("Apache2::ReadConfig::"), "{package}");
    assert!(package.ends_with(&format!("_conf::line_{}", line - 2)), "{package} in line {line}");
    assert_ne!(evaluated(&server, "$Say::other"), package);
    assert_eq!(evaluated(&server, "$Say::seen"), "unseen");
    assert_eq!(evaluated(&server, "$Say::zero"), "the file");
    assert_eq!(evaluated(&server, "defined(${$Say::package.'::local'})?1:0"), "0");
}

#[test]
fn a_saved_section_can_be_read_and_dumped_later() {
    let server = serve(
        "<Perl>\n$Apache2::PerlSections::Save = 1;\n$Say::package = __PACKAGE__;\n@Alias = ([ '/other', 'docs' ]);\n</Perl>\n",
    );
    assert_eq!(server.get("/other/page.html").text(), "a page");
    assert_eq!(evaluated(&server, "${$Say::package.'::Alias'}[0][0]"), "/other");
    let dump = evaluated(&server, "Apache2::PerlSections->dump");
    assert!(dump.contains("@Alias") && dump.ends_with("__END__\n"), "{dump}");
}

#[test]
fn the_shared_package_and_lines_work_too_and_a_text_names_a_hash() {
    let server = serve(
        "<Perl>\npush @Apache2::ReadConfig::Alias, [ '/one', 'docs' ];\n$PerlConfig = \"Alias /two docs\\n  Alias /three docs\\n\";\n\
         %Say::Red = ( Redirect => 'gone' );\n$Location{'/red'} = 'Say::Red';\n</Perl>\nPerl push @Alias, '/four', 'docs';\n",
    );
    for path in ["one", "two", "three", "four"] {
        assert_eq!(server.get(&format!("/{path}/page.html")).text(), "a page", "{path}");
    }
}

#[test]
fn a_section_knows_its_server() {
    let server = serve(
        "<Perl>\n$Say::main = Apache2::PerlSections->server->is_virtual;\n</Perl>\n<VirtualHost *>\nServerName own.example\n\
         <Perl>\nuse Apache2::ServerUtil ();\nmy $s = Apache2::PerlSections->server;\n$Say::own = $s->is_virtual . $s->server_hostname;\n\
         </Perl>\n</VirtualHost>\n",
    );
    assert_eq!(evaluated(&server, "$Say::main+0"), "0");
    assert_eq!(evaluated(&server, "$Say::own"), "1own.example");
}

/// HTML::Mason reads User and Group this way, where a site makes its handler at start-up.
#[test]
fn start_up_code_sees_the_directives_of_the_files() {
    let code = "use Apache2::Directive ();\nmy $file = Apache2::Directive::conftree()->lookup('ErrorLog');\n\
        sub handler { $_[0]->print($file); 0 }";
    assert_eq!(site(code).serve(&super::conf("")).text("/my"), "error.log");
}
