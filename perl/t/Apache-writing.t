# Output of handlers: byte counts, ways to set headers, languages, ties, timers, the log.

use v5.36;
use lib __FILE__ =~ s{[^/]+\z}{lib}r;
use TestServer;

my $file = __FILE__;

my %HANDLERS = (
    '/counts' => sub ($r) {
        my @counts = ( $r->write_client( 'ab', \'cd', 5 ), $r->write( 'efgh', 2, 1 ), $r->print('x'), $r->bytes_sent );
        $r->bytes_sent(99);
        $r->print( "@counts " . $r->bytes_sent );
    },
    '/fd' => sub ($r) {
        open my $handle, '<', $file or die;
        my $part = $r->send_fd( $handle, 10 );
        my $rest = $r->send_fd($handle);
        $r->notes( sum => $part . '+' . ( $part + $rest == -s $file ? 'rest' : 'other' ) );
        $r->print( "\n" . $r->notes('sum') );
    },
    '/language' => sub ($r) {
        my @seen = ( $r->content_language('en'), $r->content_languages( [qw(de fr)] )->[0], $r->content_language );
        $r->print( join '|', map { $_ // 'undef' } @seen );
    },
    '/cgi' => sub ($r) {
        $r->cgi_header_out( 'Set-Cookie' => "c=$_" ) for 1, 2;
        $r->cgi_header_out( 'X-Merged'   => $_ )     for 1, 2;
        $r->cgi_header_out( 'Content-type' => 'text/x-cgi' );
        $r->cgi_header_out( Status         => '203 Fine' );
        $r->print('x');
    },
    '/moved' => sub ($r) { $r->cgi_header_out( Location => 'http://example.org/' )},
    '/basic' => sub ($r) { $r->basic_http_header; print "X-By-Hand: yes\r\nContent-Type: text/x-hand\r\n\r\nbody" },
    '/said'  => sub ($r) { $r->sent_header(1); $r->print("No-Header: here\n\nat all "); $r->print( $r->sent_header ) },
    '/tied'  => sub ($r) {
        tie *STDOUT, 'Apache', $r;
        print STDOUT 'a', 'b';
        printf STDOUT '%03d', 7;
        syswrite STDOUT, 'xyz', 2, 1;
        print STDOUT fileno STDOUT;
        my ($folder) = $ENV{TMPDIR} =~ /(.*)/s;
        open STDOUT, '>', "$folder/reopened" or die $!;
        print STDOUT 'not to the client';
        close STDOUT;
    },
    '/exit' => sub ($r) { $r->print('before '); Apache::exit($r); $r->print('after') },
    '/soft' => sub ($r) {
        $r->server->timeout(1);
        $r->soft_timeout('soft test');
        select undef, undef, undef, 5;
        $r->print('nobody hears this');
        $r->warn( 'after the alarm: aborted ' . $r->connection->aborted );
    },
    '/timers' => sub ($r) {
        $r->soft_timeout('of a module');
        Apache::Timeout::again();
        my $left = alarm 0;
        Apache::Timeout::stop();
        $r->print( $left > 0 ? 'ran' : 'none', defined $SIG{ALRM} ? ' left' : '' );
    },
    '/hard' => sub ($r) {
        $r->server->timeout(1);
        $r->hard_timeout('hard test');
        select undef, undef, undef, 5;
        $r->warn('never said');
    },
    '/killed' => sub ($r) {
        local $SIG{ALRM} = my $mine = sub { };
        $r->hard_timeout('killed');
        alarm 3;
        $r->reset_timeout;    # restarts with the full Timeout, not with the remaining time
        my $left = alarm(0) - 3;
        $r->kill_timeout;
        $r->print( join '|', $left > 0 ? 'ran' : 'stood', alarm(0), $SIG{ALRM} == $mine ? 'mine' : 'other' );
    },
    '/log' => sub ($r) {
        $r->log_reason('no reason');
        $r->log_error( 'error ', 'one' );
        $r->warn('warning two');
        Apache->warn('three');
        Apache::log_error('four');
        $r->print('x');
    },
    '/software' => sub ($r) { $r->print( $ENV{SERVER_SOFTWARE} ) },
    '/taint'    => sub ($r) { my $x = 'x'; $r->taint($x); Apache->untaint($x); $r->print($x) },
    '/nocache'  => sub ($r) { $r->no_cache(1); $r->no_cache(0); $r->print('x') },
);

package My::Cases {
    sub handler ($r) { $HANDLERS{ $r->path_info }->($r); return 0 }
}

package main;
if ( TestServer::in_server() ) {
    no warnings 'once';
    die 'not starting' unless $Apache::Server::Starting;
    Apache->add_version_component('Mine/1.5');
    return 1;
}

use Test::More;

my $server = TestServer->spawn(<<'CONF');
LogLevel info
PerlSetEnv TMPDIR @ROOT@
<Location /w>
    SetHandler perl-script
    PerlHandler My::Cases
</Location>
<Location /w/said>
    PerlSendHeader On
</Location>
CONF

my %content = (
    counts   => 'ab' . 'cd' . '5' . 'fg' . 'x' . '5 2 1 8 99',
    language => 'undef|en|de, fr',
    said     => "No-Header: here\n\nat all 1",
    tied     => 'ab007yz1',
    exit     => 'before ',
    killed   => 'ran|0|mine',
    taint    => 'x',
);
is $server->get("/w/$_")->{content}, $content{$_}, $_ for sort keys %content;
is $server->slurp('reopened'), 'not to the client', 'reopening STDOUT ends the tie';

is $server->get('/w/fd')->{content}, $server->slurp_path($file) . "\n10+rest", 'send_fd';
is $server->get('/w/language')->{headers}{'content-language'}, 'de, fr', 'Content-Language';
like $server->get('/w/software')->{content}, qr{\ACameleer/\S+ mod_perl/1\.31 Mine/1\.5\z}, 'add_version_component';

my $cgi = $server->get('/w/cgi');
is_deeply [ $cgi->{status}, @{ $cgi->{headers} }{qw(content-type set-cookie x-merged)} ],
    [ 203, 'text/x-cgi', [ 'c=1', 'c=2' ], '1, 2' ], 'cgi_header_out';
my $moved = $server->get('/w/moved');
is "$moved->{status} $moved->{headers}{location}", '302 http://example.org/', 'cgi_header_out of a Location';
my $basic = $server->get('/w/basic');
is join( ' ', @{ $basic->{headers} }{qw(x-by-hand content-type)}, $basic->{content} ), 'yes text/x-hand body', 'basic_http_header';
is $server->get('/w/nocache')->{headers}{pragma}, undef, 'no_cache(0)';

is $server->get('/w/soft')->{status}, 500, 'soft_timeout';
is $server->get('/w/hard')->{status}, 500, 'hard_timeout';
is $server->get('/w/timers')->{content}, 'ran', 'Apache::Timeout has the timers';
$server->get('/w/log');
like $server->log, $_ for qr/:info\].*soft test timed out for 127\.0\.0\.1$/m, qr/:warn\].*after the alarm: aborted 1$/m,
    qr/:info\].*hard test timed out for 127\.0\.0\.1$/m,
    qr/:error\].*access to \/w\/log failed for 127\.0\.0\.1, reason: no reason$/m, qr/:error\].*: error one$/m,
    qr/:warn\].*: warning two$/m, qr/:warn\].*: three$/m, qr/:error\].*: four$/m;
unlike $server->log, qr/never said/, 'hard_timeout ends the handler';

done_testing;
