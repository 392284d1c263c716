//! Variables of `<Perl>` sections, saved to a file; and values of `PerlSetVar` in handlers.

use super::{serve, site};
use crate::support::Request;

const SAID: &str = "$Apache::Server::SaveConfig = 1;
    $PerlSetVar = 'who saved';
    @PerlModule = ('Who');
    $Location{'/in'} = { SetHandler => 'perl-script', PerlHandler => 'Who', PerlSetVar => [ 'who', q(it's \"in\") ] };";

#[test]
fn stored_variables_are_read_back_as_the_same_configuration() {
    let site = site().file("dump.pl", "print {*STDERR} Apache::PerlSections->dump; 1;");
    let server = site.serve(&format!(
        "PerlLib lib\n<Perl>\n{SAID}\nrequire Apache::PerlSections;\nApache::PerlSections->store('kept.pl');\n\
         require '@DIR@/dump.pl';\n</Perl>"
    ));
    assert_eq!(server.text("/in"), "who=it's \"in\"");
    let kept = server.site.read("kept.pl");
    server.logged("package Apache::ReadConfig;");
    assert!(server.log().replace("[error] ", "").contains(&kept), "dump says what store has written: {kept}");
    let again = super::site();
    again.write("kept.pl", &kept);
    let again = again.serve("PerlLib lib\n<Perl>\ndo '@DIR@/kept.pl' or die $@ || $!;\n</Perl>");
    assert_eq!(again.text("/in"), "who=it's \"in\"");
}

#[test]
fn a_file_that_cannot_be_written_is_reported_with_file_and_line() {
    super::check("\n<Perl>\nrequire Apache::PerlSections;\nApache::PerlSections->store('/no/where/kept.pl');\n</Perl>")
        .failed(78, "<Perl>: Apache::PerlSections: cannot write /no/where/kept.pl: No such file or directory");
}

#[test]
fn a_limit_names_its_methods() {
    let server = serve(
        "<Perl>
            @PerlModule = 'Who';
            $Location{'/who'} = {
                SetHandler => 'perl-script', PerlHandler => 'Who',
                Limit => { METHODS => 'PUT DELETE', Order => 'deny,allow', Deny => 'from all' },
                LimitExcept => [ { METHODS => 'GET PUT', Order => 'deny,allow', Deny => 'from all' } ],
            };
        </Perl>",
    );
    for (method, status) in [("GET", 200), ("HEAD", 200), ("PUT", 403), ("DELETE", 403), ("POST", 403)] {
        server.send(Request::new(method, "/who")).is(status);
    }
}

#[test]
fn dir_config_is_a_list_of_names_and_values_in_list_context() {
    let server = serve(
        "SetHandler perl-script\nPerlSetVar a main\nPerlSetVar b 1\n<Location /x>\nPerlSetVar a in\nPerlAddVar a more\n</Location>\n\
         PerlHandler 'sub { my $r = shift; my @all = $r->dir_config; my $table = $r->dir_config; \
            $r->print(join q( ), @all, ref $table, $table->get(q(a)), scalar $r->dir_config(q(a))); 0 }'",
    );
    assert_eq!(server.text("/"), "a main b 1 Apache::Table main main");
    assert_eq!(server.text("/x"), "b 1 a in a more Apache::Table in more in");
}
