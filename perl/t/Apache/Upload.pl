# Apache::Upload: name, size, file and link of an upload; run by packages.t

use v5.36;

sub My::Uploaded::of ( $r, @pieces ) {
    my $info = Apache::Table->new($r);
    $info->set( 'Content-Type' => 'text/x' );
    my $upload = Apache::Upload->begin( 'field', 'name.txt', $info, TestServer::own_file('') =~ s{/\z}{}r );
    $upload->append($_) for @pieces;
    return $upload;
}

sub My::Uploaded::text ($handle) { local $/ = undef; return <$handle> }

return {
    facts  => [ sub ($r) { my $u = My::Uploaded::of( $r, 'ab', 'c' ); join '|', $u->name, $u->filename, $u->size, $u->type, $u->info('content-type'), $u->info('None') // 'undef', $u->next // 'undef' }, 'field|name.txt|3|text/x|text/x|undef|undef' ],
    small  => [ sub ($r) { my $fh = My::Uploaded::of( $r, 'ab', 'c' )->fh; ( -s $fh ) . My::Uploaded::text($fh) }, '3abc' ],
    handles => [ sub ($r) { my $u = My::Uploaded::of( $r, 'abc' ); my ( $one, $two ) = ( $u->fh, $u->fh ); read $one, my $part, 2; $part . My::Uploaded::text($two) . My::Uploaded::text($one) }, 'ababcc' ],
    large  => [ sub ($r) { my $u = My::Uploaded::of( $r, ('x' x 1000) x 100 ); my $name = $u->{tempname}; length( My::Uploaded::text( $u->fh ) ) . ( -e $name ? ' on disk' : ' in memory' ) }, '100000 on disk' ],
    empty  => [ sub ($r) { my $u = My::Uploaded::of($r); $u->size . '[' . ( My::Uploaded::text( $u->fh ) // '' ) . ']' }, '0[]' ],
    named  => [ sub ($r) { my $u = My::Uploaded::of( $r, 'abc' ); $u->fh; -s $u->tempname ? 'on disk' : 'unwritten' }, qr/on disk|unwritten/ ],
    link   => [ sub ($r) { my $to = TestServer::own_file('linked'); unlink $to; my $u = My::Uploaded::of( $r, 'abc' ); ( $u->link($to) eq $to ) . ( -s $to ) }, '13' ],
    no_link => [ sub ($r) { my $u = My::Uploaded::of( $r, 'abc' ); my @said = $u->link('/no/such/folder'); @said . ( $said[0] // 'undef' ) . " $!" }, '1undef No such file or directory' ],
    leaks_nothing => [ sub ($r) { my $info = Apache::Table->new($r); TestServer::growth( sub { Apache::Upload->begin( 'f', 'n', $info, '/tmp' )->append('x') } ) }, 'steady' ],
};
