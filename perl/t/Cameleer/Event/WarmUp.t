# Requests of PerlWarmup over streams of this process.

use v5.36;
use lib __FILE__ =~ s{t/Cameleer/Event/[^/]+\z}{lib}r;
use Test::More;
use Cameleer::Event::WarmUp;

# A loop that the first exception of a callback leaves.
package My::Dying {
    our $AUTOLOAD;
    sub new ( $class, $loop ) { return bless { loop => $loop }, $class }
    sub run ($self) { $self->{died}++ ? $self->{loop}->run : die "a callback\n"; return }
    sub DESTROY { }
    sub AUTOLOAD ( $self, @arguments ) { my $name = $AUTOLOAD =~ s/.*:://r; return $self->{loop}->$name(@arguments) }
}

my @whole = (
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "HTTP/1.1 204 No Content\r\n\r\n",
);
my @parts = ( "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", "HTTP/1.1 200 OK\r\n\r\nok" );
ok Cameleer::Event::WarmUp::is_whole( \$_ ),  'a response is complete'     for @whole;
ok !Cameleer::Event::WarmUp::is_whole( \$_ ), 'a response is not complete' for @parts;

my $head = Cameleer::Event::WarmUp::head( [ 'https', 'example.org:8443', '192.0.2.1', 8443, '/app', '/app/page?q=1' ] );
like $head, qr{\AGET /app/page\?q=1 HTTP/1\.1\r\nhost: example\.org:8443\r\n}, 'the request';
like $head, qr{\r\n$_\r\n}, $_ for 'cameleer-server: 192\.0\.2\.1 8443', 'cameleer-path: /app/page', 'cameleer-script-name: /app', 'cameleer-server-name: example\.org';

if ( eval { require AnyEvent; require Cameleer::Event::AnyEvent; 1 } ) {
    my $loop = Cameleer::Event::AnyEvent->new;
    my ( @seen, @warnings, @open );
    my $add = sub ($descriptor) {
        open my $stream, '+<&=', $descriptor or die "$!";
        push @open, $stream;
        sysread $stream, my $request, 10_000;
        my ($target) = $request =~ /\AGET (\S+) /;
        push @seen, $target;
        return if $target eq '/never';
        syswrite $stream, 'HTTP/1.1 ' . ( $target eq '/bad' ? 500 : 200 ) . " Status\r\nContent-Length: 2\r\n\r\nok";
    };
    local $SIG{__WARN__} = sub ($text) { push @warnings, $text };
    my @requests = map { [ 'http', 'localhost', '127.0.0.1', 80, '-', $_, 'site.conf:7' ] } qw(/one /bad /two);
    Cameleer::Event::WarmUp->run( $loop, $add, { warm_up => \@requests, start => 600 } );
    is "@seen", '/one /bad /two', 'one request after the other';
    is "@warnings", "site.conf:7: warm-up: GET /bad: status 500\n", 'a failure is a warning';
    ( @seen, @warnings ) = ();
    @requests = map { [ 'http', 'localhost', '127.0.0.1', 80, '-', $_, 'site.conf:7' ] } qw(/one /two);
    my @failed;
    Cameleer::Event::WarmUp->run( My::Dying->new($loop), $add, { warm_up => \@requests, start => 0 }, sub ($error) { push @failed, $error } );
    is "@seen", '/one /two', 'an exception of a callback ends no warm-up';
    is "@failed", "a callback\n", 'and is reported';
    ( @seen, @warnings ) = ();
    @requests = map { [ 'http', 'localhost', '127.0.0.1', 80, '-', $_, 'site.conf:7' ] } qw(/never /other);
    Cameleer::Event::WarmUp->run( $loop, $add, { warm_up => \@requests, start => 0.1 } );
    is "@warnings", "site.conf:7: warm-up: GET /never: no response within 0.05 s, and no time was left for 1 more; raise StartTimeout, of which this is a half\n", 'the time is limited';
}

done_testing;
