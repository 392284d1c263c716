# Pure functions return in a plain perl what they return in a worker.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

my $LIB = __FILE__ =~ s{t/[^/]+/[^/]+\z}{lib}r;

# Code that needs no request: run here by a plain perl and in a worker.
my %CASES = (
    constants  => sub { join '|', Apache::Constants::OK(), Apache::Constants::NOT_FOUND(), Apache::Constants->name(404), Apache::Constants::M_POST() },
    html       => sub { join '|', map { Apache::Util::escape_html($_) } q{<a href="x">&'}, "\xe9<", '', undef },
    html_wide  => sub { my $t = Apache::Util::escape_html("<\x{263a}>"); length($t) . ( utf8::is_utf8($t) ? ' characters' : ' bytes' ) },
    uri        => sub { join '|', map { Apache::Util::escape_uri($_) } "/a b/%?#;\"\x00-_.~", join( '', map {chr} 1 .. 255 ), "\x{e9}\x{263a}", "\x{e9}", '' },
    unescape   => sub { join '|', map { ( Apache::Util::unescape_uri($_), Apache::Util::unescape_uri_info($_) ) } 'a%20b+c%4', '%zz%41%', '', '%e2%98%BA' },
    arguments  => sub { join '|', map { join ',', Apache::parse_args( 1, $_ ) } 'a=1&b=%32', 'a;b=2;;c', 'one+two', 'one&two', '', '=x&y==z', 'a=b=c', '&', 'a&', '=' },
    whole      => sub { scalar Apache::parse_args( 0, 'a=1' ) },
    nothing    => sub { scalar( () = Apache::parse_args( 1, undef ) ) },
    time       => sub { Apache::Util::ht_time(784111777) . Apache::Util::parsedate('Sun, 06 Nov 1994 08:49:37 GMT') },
    password   => sub { Apache::Util::validate_password( 'secret', '$apr1$abcdefgh$h9FWgUz3n9YxylKLlR5SQ/' ) },
    size       => sub { Apache::Util::size_string(1_500_000) },
    parse      => sub { my $u = Apache::URI->parse( undef, 'http://me:pw@h:81/p?q#f' ); join '|', $u->hostname, $u->port, $u->unparse },
    expires    => sub { Apache::Cookie::date( 'Thu, 01-Jan-2037 00:00:00 GMT', '-' ) },
    levels     => sub { join ',', Apache::Log::EMERG(), Apache::Log::DEBUG() },
    module     => sub { join '', map { Apache->module($_) ? 1 : 0 } qw(mod_perl.c Apache::Util No::Such) },
    hook       => sub { mod_perl::hook('Trans') . mod_perl::hook('Nonsense') },
);

sub prepare {
    for my $module (qw(Apache Apache::Constants Apache::Cookie Apache::Log Apache::URI Apache::Util)) {
        require( $module =~ s{::}{/}gr . '.pm' );
    }
    return;
}

if ( TestServer::in_server() ) {
    prepare();
    return TestServer::serve_cases( { map { my $code = $CASES{$_}; ( $_ => sub ($r) { my $said = $code->(); utf8::encode($said) if utf8::is_utf8($said); $said } ) } keys %CASES } );
}

use Test::More;

unshift @INC, $LIB;
prepare();
no warnings 'uninitialized';
my %here = map { my $said = $CASES{$_}->(); utf8::encode($said) if utf8::is_utf8($said); ( $_ => $said ) } keys %CASES;
TestServer->check_cases( \%here );
is $here{constants}, '0|404|NOT_FOUND|2', 'the values are defined';

done_testing;
