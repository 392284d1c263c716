# Cameleer::Outside::Log: messages of code that runs outside the server; run by packages.t

use v5.36;

sub My::Outside::told ($code) {
    open my $err, '>', \my $text or die $!;
    local *STDERR = $err;
    $code->();
    return $text;
}

return {
    write_prints_the_level                     => [ sub ($r) { My::Outside::told( sub { Cameleer::Outside::Apache::Log::write( 3, 'a text' ) } ) }, "[error] a text\n" ],
    a_newline_is_not_doubled                   => [ sub ($r) { My::Outside::told( sub { Cameleer::Outside::Apache::Log::write( 7, "a text\n" ) } ) }, "[debug] a text\n" ],
    an_unknown_level_is_error                  => [ sub ($r) { My::Outside::told( sub { Cameleer::Outside::Apache::Log::write( 99, 'a text' ) } ) }, "[error] a text\n" ],
    write_without_a_level_prints_the_text_only => [ sub ($r) { My::Outside::told( sub { Cameleer::Outside::Apache::Log::write( 3, 'a text', 3 ) } ) }, "a text\n" ],
    loglevel_sets_and_returns_the_level        => [ sub ($r) { my $level = \&Cameleer::Outside::Apache::Server::loglevel; join '', $level->( undef, 7 ), $level->(undef), $level->( undef, 4 ), $level->(undef) }, '4774' ],
};
