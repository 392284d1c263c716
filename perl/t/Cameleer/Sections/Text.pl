# Cameleer::Sections::Text: writes the variables of a <Perl> section as directives; run by packages.t

use v5.36;

my %KNOWN = (
    ( map { ( lc $_ => { name => $_, kind => 'line', least => 1, most => 1 } ) } qw(Timeout PerlModule SetHandler PerlHandler) ),
    alias      => { name => 'Alias',      kind => 'line',    least => 2, most => 2 },
    perlsetvar => { name => 'PerlSetVar', kind => 'line',    least => 2, most => 2 },
    indexes    => { name => 'Indexes',    kind => 'line',    least => 1, most => -1 },
    location   => { name => 'Location',   kind => 'section', least => 1, most => 1 },
);

my $number = 0;

# The lines of a section with this code.
sub My::Lines::of ($code) {
    my $package = 'My::Lines::N' . ++$number;
    eval "package $package; no strict; $code; 1" or die $@;    ## no critic: a section at run time
    return Cameleer::Sections::Text::of( $package, \%KNOWN );
}

return {
    a_scalar_is_a_line                        => [ sub ($r) { My::Lines::of('$Timeout = 5') }, "Timeout 5\n" ],
    a_list_of_pairs_is_several_lines          => [ sub ($r) { My::Lines::of('@Alias = ("/a", "/b c", "/d", "/e")') }, "Alias /a \"/b c\"\nAlias /d /e\n" ],
    a_nested_list_is_a_line                   => [ sub ($r) { My::Lines::of('@Alias = (["/a", "/b"])') }, "Alias /a /b\n" ],
    a_list_of_words_is_one_line               => [ sub ($r) { My::Lines::of('@Indexes = qw(a b c)') }, "Indexes a b c\n" ],
    a_hash_is_a_section                       => [ sub ($r) { My::Lines::of('%Location = ("/x" => { SetHandler => "perl-script" })') }, qr{\A<Location /x>\n\s*SetHandler perl-script\n</Location>\n\z} ],
    a_list_of_hashes_is_several_sections      => [ sub ($r) { My::Lines::of('%Location = ("/x" => [ { SetHandler => 1 }, { SetHandler => 2 } ])') =~ tr/\n// }, '6' ],
    perl_module_comes_first                   => [ sub ($r) { My::Lines::of('$Alias = "/a /b"; $PerlModule = "CGI"') }, "PerlModule CGI\nAlias /a /b\n" ],
    perl_config_is_taken_literally            => [ sub ($r) { My::Lines::of('$PerlConfig = "Timeout 7"') }, "Timeout 7\n" ],
    words_are_quoted                          => [ sub ($r) { My::Lines::of(q{@PerlSetVar = ('a', 'x "y" \\\\z')}) }, qq{PerlSetVar a "x \\"y\\" \\\\z"\n} ],
    a_newline_becomes_a_blank                 => [ sub ($r) { My::Lines::of('$Timeout = "5\n  Evil On"') }, "Timeout 5 Evil On\n" ],
    a_hash_of_a_plain_directive_dies          => [ sub ($r) { eval { My::Lines::of('%Timeout = ("/x" => {})') }; $@ }, "%Timeout: Timeout is not a section; use \$Timeout or \@Timeout\n" ],
    an_unknown_name_is_ignored_with_a_warning => [ sub ($r) { my @said; local $SIG{__WARN__} = sub { push @said, @_ }; '[' . My::Lines::of('$Timeoutt = 5; $own = 1') . "]@said" }, qr/\A\[\]<Perl>: Timeoutt is no directive and is ignored;/ ],
    strict_perl_sections_passes_unknown_names => [ sub ($r) { no warnings 'once'; local $Apache::Server::StrictPerlSections = 1; My::Lines::of('$Timeoutt = 5') }, "Timeoutt 5\n" ],
    unset_variables_give_no_lines             => [ sub ($r) { '[' . My::Lines::of('$Timeout = undef; @Alias = (); %Location = ()') . ']' }, '[]' ],
};
