# Apache::File: handles, temporary files, conditions and ranges.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

my $TEXT = join '', 'a' .. 'z';

my %CASES = (
    handles => sub ($r) {
        my ($folder) = $ENV{TMPDIR} =~ /(.*)/s;
        my $file     = "$folder/written";
        my $out      = Apache::File->new(">$file") or die;
        print {$out} 'text';
        $out->close;
        my $in = Apache::File->new;
        $in->open($file) or die;
        my $line = <$in>;
        my $none = Apache::File->new("$folder/none");
        join '|', ref $in, $line, $none // 'undef';
    },
    tmpfile => sub ($r) {
        my ( $name, $handle ) = Apache::File->tmpfile;
        my $other = Apache::File->tmpfile;
        print {$handle} 'x';
        print {$other} 'y';
        join '|', $name, ( stat $name )[2] & 0777, ref $other;
    },
    discard => sub ($r) { my $ok = $r->discard_request_body; "$ok" . $r->read( my $rest, 10 ) },
    mtime   => sub ($r) {
        join '|', $r->mtime, $r->update_mtime(100), $r->update_mtime(50), $r->mtime,
            $r->update_mtime == ( stat $r->filename )[9] ? 'the file\'s' : 'other';
    },
    # perl's clock is the kernel's last tick, the server's is finer: around a full second they differ by one
    future => sub ($r) { $r->set_last_modified( time + 1000 ); Apache::Util::parsedate( $r->header_out('Last-Modified') ) <= time + 1 },
);

# A page with a known modification time and an entity tag.
package My::Page {
    sub handler ($r) {
        $r->update_mtime(784_111_777);
        $r->set_last_modified;
        $r->set_etag;
        $r->set_content_length( length $TEXT );
        my $status = $r->meets_conditions;
        return $status if $status != 0;
        $r->content_type('text/x-page');
        my $is_partial = $r->set_byterange;
        $r->send_http_header;
        return 0 if $r->header_only;
        $r->print($TEXT) unless $is_partial;
        while ( my ( $offset, $length ) = $is_partial ? $r->each_byterange : () ) { $r->print( substr $TEXT, $offset, $length ) }
        return 0;
    }
}

package My::Cases {
    sub handler ($r) { $r->print( $CASES{ $r->path_info =~ s{/}{}r }->($r) ); return 0 }
}

package main;
if ( TestServer::in_server() ) {
    require Apache::File;
    return 1;
}

use Test::More;

my $server = TestServer->spawn( <<'CONF', 'page' => 'x' );
PerlSetEnv TMPDIR @ROOT@
<Location /f>
    SetHandler perl-script
    PerlHandler My::Cases
</Location>
<Location /page>
    SetHandler perl-script
    PerlHandler My::Page
</Location>
CONF

sub get ($path) { return $server->get("/f/$path")->{content} }

is get('handles'), 'Apache::File|text|undef', 'handles';
my ( $name, $mode, $class ) = split /\|/, get('tmpfile');
like $name, qr/\A\Q$server->{dir}\E\//, 'tmpfile is in TMPDIR';
is "$mode $class", 384 . ' Apache::File', 'only the owner can access a tmpfile';
ok $server->wait_for( 'its end', sub { !-e $name } ), 'tmpfile goes with the request';
is $server->post( '/f/discard', 'body' )->{content}, '00', 'discard_request_body';
is get('mtime'), '0|100|100|100|other', 'mtime of no file' ;
is get('future'), 1, 'set_last_modified';

my $page = $server->get('/page');
my ( $etag, $modified ) = @{ $page->{headers} }{qw(etag last-modified)};
is "$page->{content} $modified $page->{headers}{'content-length'}", "$TEXT Sun, 06 Nov 1994 08:49:37 GMT 26", 'the page';
like $etag, qr/\A"[0-9a-f]+-1-2ebc8be1"\z|\A"[0-9a-f-]+"\z/, 'the tag of the page';

my $later = 'Mon, 07 Nov 1994 08:49:37 GMT';
my $early = 'Sat, 05 Nov 1994 08:49:37 GMT';
my @conditions = (
    [ 'If-Modified-Since'   => $modified,           304 ],
    [ 'If-Modified-Since'   => $later,              304 ],
    [ 'If-Modified-Since'   => $early,              200 ],
    [ 'If-Modified-Since'   => 'nonsense',          200 ],
    [ 'If-Modified-Since'   => 'Fri, 01 Jan 2100 00:00:00 GMT', 200 ],
    [ 'If-Unmodified-Since' => $early,              412 ],
    [ 'If-Unmodified-Since' => $later,              200 ],
    [ 'If-None-Match'       => $etag,               304 ],
    [ 'If-None-Match'       => qq{"x", W/$etag},    304 ],
    [ 'If-None-Match'       => '"x"',               200 ],
    [ 'If-None-Match'       => '*',                 304 ],
    [ 'If-Match'            => $etag,               200 ],
    [ 'If-Match'            => '"x"',               412 ],
    [ 'If-Match'            => '*',                 200 ],
);
is $server->get( '/page', $_->[0] => $_->[1] )->{status}, $_->[2], "$_->[0]: $_->[1]" for @conditions;
is $server->request( POST => '/page', headers => { 'If-None-Match' => $etag } )->{status}, 412, 'If-None-Match of a POST';

my @ranges = (
    [ 'bytes=0-4',   'abcde', '0-4' ],
    [ 'bytes=20-',   'uvwxyz', '20-25' ],
    [ 'bytes=-3',    'xyz', '23-25' ],
    [ 'bytes=24-99', 'yz', '24-25' ],
);
for my $case (@ranges) {
    my ( $range, $part, $shown ) = @$case;
    my $answer = $server->get( '/page', Range => $range );
    is "$answer->{status} $answer->{content} $answer->{headers}{'content-range'}", "206 $part bytes $shown/26", $range;
}
is $server->get( '/page', Range => $_ )->{status}, 200, "ignored: $_"
    for 'bytes=5-1', 'bytes=x', 'bytes=-0', 'bytes=30-', 'lines=1-2', 'bytes=0-25,0-25', 'bytes=' . join ',', ('1-1') x 101;
is $server->get( '/page', Range => 'bytes=0-1', 'If-Range' => $_->[0] )->{status}, $_->[1], "If-Range: $_->[0]"
    for [ $etag, 206 ], [ '"x"', 200 ], [ $modified, 206 ], [ $later, 200 ];

my $several = $server->get( '/page', Range => 'bytes=0-1,24-25' );
my ($boundary) = $several->{headers}{'content-type'} =~ m{\Amultipart/byteranges; boundary=(\w+)\z};
is $several->{status}, 206, 'several ranges';
is $several->{content}, join( '', map { "\r\n--$boundary\r\nContent-Type: text/x-page\r\nContent-Range: bytes $_->[0]/26\r\n\r\n$_->[1]" }
        [ '0-1', 'ab' ], [ '24-25', 'yz' ] ) . "\r\n--$boundary--\r\n", 'the parts of several ranges';
is $several->{headers}{'content-length'}, length $several->{content}, 'the length of several ranges';

done_testing;
