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
    scalar                      => [ sub ($r) { My::Lines::of('$Timeout = 5') }, "Timeout 5\n" ],
    list                        => [ sub ($r) { My::Lines::of('@Alias = ("/a", "/b c", "/d", "/e")') }, "Alias /a \"/b c\"\nAlias /d /e\n" ],
    nested                      => [ sub ($r) { My::Lines::of('@Alias = (["/a", "/b"])') }, "Alias /a /b\n" ],
    a_list_of_words_is_one_line => [ sub ($r) { My::Lines::of('@Indexes = qw(a b c)') }, "Indexes a b c\n" ],
    section                     => [ sub ($r) { My::Lines::of('%Location = ("/x" => { SetHandler => "perl-script" })') }, qr{\A<Location /x>\n\s*SetHandler perl-script\n</Location>\n\z} ],
    several                     => [ sub ($r) { My::Lines::of('%Location = ("/x" => [ { SetHandler => 1 }, { SetHandler => 2 } ])') =~ tr/\n// }, '6' ],
    early                       => [ sub ($r) { My::Lines::of('$Alias = "/a /b"; $PerlModule = "CGI"') }, "PerlModule CGI\nAlias /a /b\n" ],
    literal                     => [ sub ($r) { My::Lines::of('$PerlConfig = "Timeout 7"') }, "Timeout 7\n" ],
    quotes                      => [ sub ($r) { My::Lines::of(q{@PerlSetVar = ('a', 'x "y" \\\\z')}) }, qq{PerlSetVar a "x \\"y\\" \\\\z"\n} ],
    lines                       => [ sub ($r) { My::Lines::of('$Timeout = "5\n  Evil On"') }, "Timeout 5 Evil On\n" ],
    no_section => [ sub ($r) { eval { My::Lines::of('%Timeout = ("/x" => {})') }; $@ }, "%Timeout: Timeout is not a section: use \$Timeout or \@Timeout\n" ],
    unknown => [ sub ($r) { my @said; local $SIG{__WARN__} = sub { push @said, @_ }; '[' . My::Lines::of('$Timeoutt = 5; $own = 1') . "]@said" }, qr/\A\[\]<Perl>: Timeoutt is no directive and is ignored;/ ],
    strict  => [ sub ($r) { no warnings 'once'; local $Apache::Server::StrictPerlSections = 1; My::Lines::of('$Timeoutt = 5') }, "Timeoutt 5\n" ],
    undef   => [ sub ($r) { '[' . My::Lines::of('$Timeout = undef; @Alias = (); %Location = ()') . ']' }, '[]' ],
};
