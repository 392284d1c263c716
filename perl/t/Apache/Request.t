# Apache::Request: parameters of queries and bodies, uploads, limits, hooks.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

package My::Sub { our @ISA = ('Apache::Request'); sub hello { 'hello' } }

package My::Holder {
    our @ISA = ('Apache::Request');
    sub new ( $class, $r ) { return bless { r => Apache::Request->new($r) }, $class }
}

my %CASES = (
    param => sub ($r) {
        my $q = Apache::Request->new($r);
        join '|', scalar( $q->param('a') ), join( ',', $q->param('A') ), join( ',', $q->param ), defined $q->param('none') ? 1 : 0,
            scalar( () = $q->param('none') ), $q->method, ref $q;
    },
    all   => sub ($r) { my $q = Apache::Request->new($r); join '|', map { my $n = $_; map { "$n=$_" } $q->param($n) } $q->param },
    table => sub ($r) {
        my $q = Apache::Request->new($r);
        $q->param( new => [ 1, 2 ] );
        $q->param( a   => 'set' );
        my $table = $q->param;
        my $other = Apache::Table->new($r);
        $other->set( z => 26 );
        my $was = join ',', map { "$_=$table->{$_}" } sort keys %$table;
        my $new = join ',', $q->param('new');
        $q->parms($other);
        join '|', ref $table, $was, $new, $q->param('z'), $q->param;
    },
    where => sub ($r) {
        my $q = Apache::Request->new($r);
        join '|', map { my $t = $_; join ',', map { "$_=$t->{$_}" } sort keys %$t } $q->query_params, $q->post_params;
    },
    instance => sub ($r) {
        my $one = Apache::Request->instance( $r, POST_MAX => 5000 );
        my $two = Apache::Request->instance($r);
        join '|', $one == $two ? 'same' : 'two', $one->param('b'), $two->param('b');
    },
    subclass => sub ($r) { my $q = My::Sub->new($r);    join '|', $q->hello, $q->param('b'), $q->header_in('X-In') },
    holder   => sub ($r) { my $q = My::Holder->new($r); join '|', ref $q, $q->param('b'), $q->uri, join ',', $q->param },
    limits   => sub ($r) {
        my $q      = Apache::Request->new( $r, POST_MAX => 10, DISABLE_UPLOADS => 1 );
        my $status = $q->parse;
        "$status " . ( $r->notes('error-notes') // '' ) . ' ' . join ',', $q->param;
    },
    uploads => sub ($r) {
        my $q = Apache::Request->new($r);
        join "\n", map {
            my $u  = $_;
            my $fh = $u->fh;
            my $is_file = exists $u->{tempname} ? 'disk' : 'memory';
            local $/;
            my $text = <$fh>;
            join '|', $u->name, $u->filename, $u->size, $u->type, $u->info->{'X-Extra'} // '', $is_file, -s $fh, fileno $fh > 2,
                length $text > 20 ? substr( $text, -5 ) : $text
        } $q->upload;
    },
    chain => sub ($r) {
        my $q = Apache::Request->new($r);
        my @names;
        for ( my $u = $q->upload ; $u ; $u = $u->next ) { push @names, $u->filename }
        join '|', @names, ref $q->upload('big'), $q->upload('big')->filename, scalar( $q->upload('none') ) // 'undef', scalar( () = $q->upload('small') ),
            $q->param('big');
    },
    # libapreq's Request.xs, ApacheUpload_fh: each call returns a new handle, positioned at the start
    handles => sub ($r) {
        my @seen;
        for my $upload ( map { Apache::Request->instance($r)->upload($_) } qw(small big) ) {
            my ( $one, $two ) = ( $upload->fh, $upload->fh );
            read $one, my $first, 3;
            read $two, my $same,  3;
            close $one;
            push @seen, $first eq $same ? 'same' : "$first $same", $one == $two ? 'one' : 'two', length do { local $/; readline $upload->fh };
        }
        "@seen";
    },
    link => sub ($r) {
        my ($folder) = $ENV{TEMP_DIR} =~ /(.*)/s;
        my $q        = Apache::Request->new( $r, TEMP_DIR => $folder );
        my $u        = $q->upload('small');
        my $to       = "$folder/linked";
        my $done     = $u->link($to);
        $r->notes( temp => $u->tempname );
        join '|', $done eq $to, -s $to, $u->tempname =~ /\A\Q$ENV{TEMP_DIR}/ ? 'there' : $u->tempname, $q->upload('big')->tempname;
    },
    hook => sub ($r) {
        my ( $sum, %names ) = 0;
        my $hook = sub ( $u, $bytes, $length, $data ) { $sum += $length; $names{ $u->name . $data }++; $length == length $bytes or die };
        my $q = Apache::Request->new( $r, UPLOAD_HOOK => $hook, HOOK_DATA => '!' );
        $q->parse;
        join '|', $sum, join ',', sort keys %names;
    },
    failing => sub ($r) {
        my $q = Apache::Request->new( $r, UPLOAD_HOOK => sub { die "no more\n" } );
        $q->parse . ' ' . $r->notes('error-notes');
    },
    unknown => sub ($r) { eval { Apache::Request->new( $r, NO_SUCH => 1 ) } ? 'made' : $@ =~ s/ at .*//sr },
    expires => sub ($r) {
        my $q = Apache::Request->new($r);
        join '|', $q->expires('+1d') =~ /\A\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\z/, $q->expires('never');
    },
);

package My::Cases {
    sub handler ($r) { $r->print( $CASES{ $r->path_info =~ s{/}{}r }->($r) ); return 0 }
}

package main;
if ( TestServer::in_server() ) {
    require Apache::Request;
    return 1;
}

use Test::More;

my $server = TestServer->spawn(<<'CONF');
PerlSetEnv TEMP_DIR @ROOT@
PerlSetEnv TMPDIR @ROOT@
<Location /q>
    SetHandler perl-script
    PerlHandler My::Cases
</Location>
CONF

sub get  ($path) { return $server->get( "/q/$path", 'X-In' => 'in' )->{content} }
sub form ( $path, $body ) { return $server->post( "/q/$path", $body )->{content} }

is get('param?a=1&b=2;A=3&c'), '1|1,3|a,b,c|0|0|GET|Apache::Request', 'param';
is get('all?a=%41+%zz&%62=%u20ac&=x&c=1=2'), "a=A %zz|b=\xe2\x82\xac|=x|c=1=2", 'decoding';
is form( 'all?a=q', 'a=b&c=d' ), 'a=q|a=b|c=d', 'the query, then the body';
is form( 'where?a=q&b=r', 'c=d' ), 'a=q,b=r|c=d', 'query_params and post_params';
is get('table?a=1'), 'Apache::Table|a=set,new=1,new=1|1,2|26|z', 'setting';
is form( 'instance', 'b=2' ), 'same|2|2', 'instance';
is get('subclass?b=2'), 'hello|2|in', 'a subclass';
is get('holder?b=2'), 'My::Holder|2|/q/holder|b', 'a subclass that holds one';
is get('param'), '||' . '|0|0|GET|Apache::Request', 'nothing';
is get('unknown'), "Apache::Request: unknown attribute: `NO_SUCH'";
is get('expires'), '1|never', 'expires';

is form( 'limits?q=1', 'a=1' ), '0  q,a', 'within the limits';
is form( 'limits?q=1', 'a=123456789' ), '413 [libapreq] entity too large (11, max=10) q', 'POST_MAX';
is $server->post( '/q/limits', 'a=1', 'text/plain' )->{content}, "500 [libapreq] unknown content-type: `text/plain' ", 'another type';
is form( 'limits?' . 'a;' x 3000, 'b' ), '0  a,b', 'many parameters';
like form( 'all', 'a&' x 10_001 ), qr/\Aa=(\|a=){9999}\z/, 'too many parameters';

my $BIG  = 'x' x 100_000 . "\r\nend!!";
my @PARTS = (
    qq{name="a"\r\n\r\nplain},
    qq{name="small"; filename="s.txt"\r\nContent-Type: text/x-small\r\nX-Extra: yes\r\n\r\n tiny\r\n},
    qq{name="empty"; filename=""\r\n\r\n},
    qq{name="big"; filename="C:\\dir\\b \\"q\\".bin"\r\nContent-Type: application/x-big\r\n\r\n$BIG},
);

sub multipart ( $path, @parts ) {
    my $body = join '', map { "--xYz\r\nContent-Disposition: form-data; $_\r\n" } @parts;
    return $server->post( "/q/$path", "$body--xYz--\r\n", 'multipart/form-data; boundary=xYz' )->{content};
}

is multipart( 'all', @PARTS ), 'a=plain|small=s.txt|empty=|big=C:\dir\b "q".bin', 'parameters of a multipart body';
is multipart( 'uploads', @PARTS ), "small|s.txt|7|text/x-small|yes|memory|7|1| tiny\r\n\n"
    . 'big|C:\dir\b "q".bin|' . length($BIG) . '|application/x-big||disk|' . length($BIG) . '|1|end!!', 'uploads';
is multipart( 'chain', @PARTS ), 's.txt|C:\dir\b "q".bin|Apache::Upload|C:\dir\b "q".bin|undef|1|C:\dir\b "q".bin', 'next, by name';
is multipart( 'handles', @PARTS ), 'same two 7 same two ' . length $BIG, 'fh is a fresh handle each time';
is multipart( 'hook', @PARTS ), ( 7 + length $BIG ) . '|big!,small!', 'UPLOAD_HOOK';
is multipart( 'failing', @PARTS ), "500 [libapreq] UPLOAD_HOOK: no more\n", 'a hook that dies';
my ( $linked, $size, $where, $temp ) = split /\|/, multipart( 'link', @PARTS );
is "$linked $size $where", '1 7 there', 'link and TEMP_DIR';
ok $server->wait_for( 'its end', sub { !-e $temp } ), 'temporary files go with the request';
is multipart( 'limits', 'name="f"; filename="x"' . "\r\n\r\n" ), '413 [libapreq] entity too large (76, max=10) ', 'POST_MAX of uploads';

sub broken ($body) { return $server->post( '/q/failing', $body, 'multipart/form-data; boundary=xYz' )->{content} }
is broken("--xYz\r\nContent-Disposition: form-data; name=a\r\n\r\nx"), '400 [libapreq] the multipart body ends in the middle';
is broken("--xYz\r\nX: y\r\n\r\n"), '400 [libapreq] a part has no name';
is $server->post( '/q/failing', 'x', 'multipart/form-data' )->{content},
    "-1 [libapreq] no boundary in content-type: `multipart/form-data'";

done_testing;
