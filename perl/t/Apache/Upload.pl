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
    an_upload_has_name_size_and_type    => [ sub ($r) { my $u = My::Uploaded::of( $r, 'ab', 'c' ); join '|', $u->name, $u->filename, $u->size, $u->type, $u->info('content-type'), $u->info('None') // 'undef', $u->next // 'undef' }, 'field|name.txt|3|text/x|text/x|undef|undef' ],
    fh_reads_a_small_upload             => [ sub ($r) { my $fh = My::Uploaded::of( $r, 'ab', 'c' )->fh; ( -s $fh ) . My::Uploaded::text($fh) }, '3abc' ],
    each_handle_has_its_own_position    => [ sub ($r) { my $u = My::Uploaded::of( $r, 'abc' ); my ( $one, $two ) = ( $u->fh, $u->fh ); read $one, my $part, 2; $part . My::Uploaded::text($two) . My::Uploaded::text($one) }, 'ababcc' ],
    a_large_upload_is_in_a_file         => [ sub ($r) { my $u = My::Uploaded::of( $r, ('x' x 1000) x 100 ); my $name = $u->{tempname}; length( My::Uploaded::text( $u->fh ) ) . ( -e $name ? ' on disk' : ' in memory' ) }, '100000 on disk' ],
    an_empty_upload_has_no_bytes        => [ sub ($r) { my $u = My::Uploaded::of($r); $u->size . '[' . ( My::Uploaded::text( $u->fh ) // '' ) . ']' }, '0[]' ],
    tempname_is_the_path_of_the_file    => [ sub ($r) { my $u = My::Uploaded::of( $r, 'abc' ); $u->fh; -s $u->tempname ? 'on disk' : 'unwritten' }, qr/on disk|unwritten/ ],
    link_gives_the_file_another_name    => [ sub ($r) { my $to = TestServer::own_file('linked'); unlink $to; my $u = My::Uploaded::of( $r, 'abc' ); ( $u->link($to) eq $to ) . ( -s $to ) }, '13' ],
    link_into_a_missing_folder_is_undef => [ sub ($r) { my $u = My::Uploaded::of( $r, 'abc' ); my @said = $u->link('/no/such/folder'); @said . ( $said[0] // 'undef' ) . " $!" }, '1undef No such file or directory' ],
    leaks_nothing                       => [ sub ($r) { my $info = Apache::Table->new($r); TestServer::growth( sub { Apache::Upload->begin( 'f', 'n', $info, '/tmp' )->append('x') } ) }, 'steady' ],
};
