//! `<Perl>` sections: variables, the directives made of them, and their order.

use super::{serve, site};

#[test]
fn scalars_lists_and_hashes_become_directives() {
    let server = serve(
        r#"<Perl>
            $DocumentRoot = '@DIR@/other';
            @PerlModule = qw(Who Text::Wrap);
            push @Alias, '/one', '@DIR@/one', '/two', '@DIR@/two';
            push @Alias, [ '/three', '@DIR@/three' ];
            $Location{'/who'} = {
                SetHandler => 'perl-script',
                PerlHandler => 'Who',
                PerlSetVar => [ who => 'the big "world"' ],
            };
            $Location{'/vars'} = {
                SetHandler => 'perl-script',
                PerlHandler => 'Vars',
                PerlSetVar => [ [ a => 1 ], [ b => 2 ] ],
                PerlAddVar => [ 'a', 3, 4 ],
            };
            sub Vars::handler {
                my $r = shift;
                $r->send_http_header('text/plain');
                $r->print( join '|', $r->dir_config->get('a'), $r->dir_config('b') );
                return 0;
            }
        </Perl>"#,
    );
    for (folder, text) in [("other", "root"), ("one", "1"), ("two", "2"), ("three", "3")] {
        server.site.write(&format!("{folder}/file.txt"), text);
    }
    assert_eq!(server.text("/file.txt"), "root");
    assert_eq!(server.text("/one/file.txt"), "1");
    assert_eq!(server.text("/two/file.txt"), "2");
    assert_eq!(server.text("/three/file.txt"), "3");
    assert_eq!(server.text("/who"), "who=the big \"world\"");
    assert_eq!(server.text("/vars"), "1|3|4|2");
}

#[test]
fn a_handler_may_be_code() {
    let server = serve(
        r#"<Perl>
            my $closed_over = 'closure';
            $Location{'/anonymous'} = {
                SetHandler  => 'perl-script',
                PerlHandler => sub { $_[0]->print("anonymous $closed_over"); 0 },
            };
            sub named { $_[0]->print( __PACKAGE__ . " $Kept" ); return 0 }
            $Kept = 'variables stay with the subs';
            $Location{'/named'}  = { SetHandler => 'perl-script', PerlHandler => \&named };
            $Location{'/stack'}  = { SetHandler => 'perl-script', PerlHandler => [ sub { $_[0]->print('a'); 0 }, 'Who' ] };
            $Location{'/text'}   = { SetHandler => 'perl-script', PerlHandler => 'sub { $_[0]->print("text"); 0 }' };
        </Perl>"#,
    );
    assert_eq!(server.text("/anonymous"), "anonymous closure");
    assert_eq!(server.text("/named"), "Apache::ReadConfig variables stay with the subs");
    assert_eq!(server.text("/stack"), "awho=nobody");
    assert_eq!(server.text("/text"), "text");
}

#[test]
fn virtual_hosts_hold_sections_and_a_list_of_hashes_is_several_sections() {
    let server = serve(
        r#"<Perl>
            sub location { return { SetHandler => 'perl-script', PerlHandler => 'Who', PerlSetVar => "who $_[0]" } }
            $VirtualHost{'*'} = [
                { ServerName => 'first.example',  Location => { '/who' => location('first') } },
                { ServerName => 'second.example', Location => { '/who' => location('second') } },
            ];
        </Perl>"#,
    );
    let ask = |name: &str| server.send(crate::support::Request::get("/who").header("Host", name)).text();
    assert_eq!(ask("first.example"), "who=first");
    assert_eq!(ask("second.example"), "who=second");
}

#[test]
fn a_perl_section_applies_to_the_section_around_it() {
    let server = serve(
        r#"
<Location /who>
    SetHandler perl-script
    PerlHandler Who
    <Perl>
        $PerlSetVar = 'who inside';
    </Perl>
</Location>
<Location /who/file>
    PerlSetVar who file
</Location>
<Location /who/deeper>
    PerlSetVar who file
</Location>
<Perl>
    $Location{'/who/deeper'}{PerlSetVar} = 'who later';
</Perl>"#
            .trim_start(),
    );
    assert_eq!(server.text("/who"), "who=inside");
    assert_eq!(server.text("/who/file"), "who=file");
    assert_eq!(server.text("/who/deeper"), "who=later");
}

#[test]
fn lines_of_configuration_can_be_given_as_text() {
    let server = site().file("more.conf", "<Location /d>\n PerlSetVar who ${WHO}\n</Location>\n").serve(
        r#"PerlLib lib
Define WHO defined
SetHandler perl-script
PerlHandler Who
<Perl>
    $PerlConfig = "<Location /a>\n PerlSetVar who a\n</Location>\n";
    push @PerlConfig, '<Location /b>', 'PerlSetVar who b', '</Location>';
    Apache->httpd_conf( '<Location /c>', 'PerlSetVar who ${c}', '</Location>', 'Include more.conf' );
</Perl>
<Location /e>
    PerlRequire e.pl
</Location>"#
            .replace("PerlRequire e.pl", "<Perl>\n Apache->httpd_conf('PerlSetVar who e');\n</Perl>")
            .as_str(),
    );
    assert_eq!(server.text("/a"), "who=a");
    assert_eq!(server.text("/b"), "who=b");
    assert_eq!(server.text("/c"), "who=${c}");
    assert_eq!(server.text("/d"), "who=defined");
    assert_eq!(server.text("/e"), "who=e");
}

#[test]
fn directives_added_by_a_start_up_file_count() {
    let server = site()
        .file("startup.pl", "Apache->httpd_conf('<Location /who>', 'PerlSetVar who startup', '</Location>'); 1;")
        .serve("PerlLib lib\nSetHandler perl-script\nPerlHandler Who\nPerlRequire startup.pl\n<Perl>\n</Perl>\n");
    assert_eq!(server.text("/who"), "who=startup");
}

#[test]
fn the_order_of_a_tied_hash_is_kept() {
    let ordered = r"package Ordered;
sub TIEHASH  { bless { keys => [], values => {} } }
sub STORE    { my ( $s, $k, $v ) = @_; push @{ $s->{keys} }, $k unless exists $s->{values}{$k}; $s->{values}{$k} = $v }
sub FETCH    { $_[0]{values}{ $_[1] } }
sub EXISTS   { exists $_[0]{values}{ $_[1] } }
sub CLEAR    { @{ $_[0]{keys} } = (); %{ $_[0]{values} } = () }
sub FIRSTKEY { $_[0]{at} = 0; $_[0]{keys}[0] }
sub NEXTKEY  { $_[0]{keys}[ ++$_[0]{at} ] }
1;
";
    let server = site().file("lib/Ordered.pm", ordered).serve(
        r#"PerlLib lib
SetHandler perl-script
PerlHandler Who
<Perl>
    use Ordered;
    tie %Location, 'Ordered';
    $Location{'~ ^/z'} = { PerlSetVar => 'who general' };
    $Location{'~ ^/za'} = { PerlSetVar => 'who special' };
    $Location{'~ .'} = { PerlSetVar => 'who last' };
    delete local $ENV{x};
</Perl>
<Location ~ ^/a>
    PerlSetVar who a
</Location>"#,
    );
    assert_eq!(server.text("/za"), "who=last");
    assert_eq!(server.text("/a"), "who=a");
}

#[test]
fn each_section_begins_with_an_empty_package_unless_it_is_to_be_saved() {
    let server = site().serve(
        r#"PerlLib lib
SetHandler perl-script
PerlHandler Who
<Perl>
    $Left = 'left';
    $PerlSetVar = 'who first';
</Perl>
<Perl>
    $Location{'/left'} = { PerlSetVar => 'who ' . ( $Left // 'nothing' ) };
    $Apache::Server::SaveConfig = 1;
    $Saved = 'saved';
</Perl>
<Perl>
    delete $Location{'/left'};
    $Location{'/saved'} = { PerlSetVar => "who $Saved" };
    require Apache::PerlSections;
    Apache::PerlSections->store('@DIR@/stored.pl');
</Perl>"#,
    );
    assert_eq!(server.text("/"), "who=first");
    assert_eq!(server.text("/left"), "who=nothing");
    assert_eq!(server.text("/saved"), "who=saved");
    let stored = server.site.read("stored.pl");
    assert!(stored.starts_with("package Apache::ReadConfig;"), "{stored}");
    assert!(stored.contains("$Saved = 'saved';") && stored.contains("'/saved' =>"), "{stored}");
}

#[test]
fn code_that_asks_learns_where_it_is_and_which_reading_this_is() {
    let server = serve(
        r#"Define SSL
<Perl>
    open my $out, '>>', '@DIR@/asked' or die $!;
    print {$out} join( ' ', __PACKAGE__, __LINE__, $ENV{MOD_PERL} =~ m{^mod_perl/1} ? 'mod_perl' : '',
        $Apache::Server::Starting, $Apache::Server::ReStarting,
        Apache->define('SSL'), Apache->define('NO'), Apache->module('mod_perl.c'),
        Apache->server->server_hostname, Apache->server_root_relative('x') ), "\n";
    $SetHandler = 'perl-script';
    $PerlHandler = 'Who';
</Perl>"#,
    );
    let line = |reading: &str| {
        server.site.filled(&format!("Apache::ReadConfig 6 mod_perl {reading} 1 0 1 localhost @DIR@/x\n"))
    };
    assert_eq!(server.site.read("asked"), line("1 0") + &line("2 0"));
    server.reload().succeeded();
    assert_eq!(server.site.read("asked"), line("1 0") + &line("2 0") + &line("1 1") + &line("2 1"));
}

#[test]
fn a_reload_reads_the_sections_anew_and_a_broken_one_leaves_the_server_as_it_was() {
    let conf = |who: &str| {
        format!(
            "PerlLib lib\n<Perl>\n$Location{{'/'}} = {{ SetHandler => 'perl-script', PerlHandler => 'Who', PerlSetVar => {who} }};\n</Perl>"
        )
    };
    let server = site().serve(&conf("'who one'"));
    assert_eq!(server.text("/"), "who=one");
    server.site.configure(&conf("'who two'"));
    server.reload().succeeded();
    assert_eq!(server.text("/"), "who=two");
    server.site.configure(&conf("die 'no good'"));
    server.reload().failed(1, "site.conf:4: <Perl>: no good");
    assert_eq!(server.text("/"), "who=two");
    server.site.configure(&conf("'who three'"));
    server.reload().succeeded();
    assert_eq!(server.text("/"), "who=three");
}

#[test]
fn pod_and_the_end_marker_are_not_configuration() {
    let server = serve(
        "=pod\n\nNotADirective here\n\n=cut\nSetHandler perl-script\nPerlHandler Who\n=head1 Notes\n\n<Nothing>\n\n=cut back\n\
         PerlSetVar who documented\n__END__\nAnything goes\n",
    );
    assert_eq!(server.text("/"), "who=documented");
}

#[test]
fn the_process_that_reads_the_sections_does_not_stay() {
    let server = serve("<Perl>\n$SetHandler = 'perl-script'; $PerlHandler = 'Who';\n</Perl>");
    let names = crate::support::children(server.pid()).into_iter().map(crate::support::name).collect::<Vec<_>>();
    assert!(!names.iter().any(|name| name.contains("expand")), "{names:?}");
}
