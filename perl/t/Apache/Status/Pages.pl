# Apache::Status::Pages: the pages of the status handler, with all values escaped; run by packages.t

use v5.36;

sub My::Pages::of ( $name, $r ) { require Apache::Status; my ($item) = grep { $_->[0] eq $name } Apache::Status::Pages::items(); return join '', @{ $item->[2]->( $r, undef ) } }

return {
    table   => [ sub ($r) { join '', @{ Apache::Status::Pages::table( ['A'], ['<b>1</b>'] ) } }, qq{<table border="1">\n<tr><th>A</th></tr>\n<tr><td><b>1</b></td></tr>\n</table>\n} ],
    link    => [ sub ($r) { require Apache::Status; Apache::Status::Pages::link_to( $r, '<x>' ) }, qr{/&lt;x&gt;">&lt;x&gt;</a>\z} ],
    inc     => [ sub ($r) { My::Pages::of( 'inc', $r ) }, qr{>Apache::Status::Pages</a></td>} ],
    scripts => [ sub ($r) { My::Pages::of( 'script', $r ) }, qr/PerlRequire/ ],
    env     => [ sub ($r) { local $ENV{ODD} = '<odd>'; My::Pages::of( 'env', $r ) }, qr{<td>ODD</td><td>&lt;odd&gt;</td>} ],
    sig     => [ sub ($r) { local $SIG{USR2} = 'IGNORE'; My::Pages::of( 'sig', $r ) }, qr{<td>USR2</td><td>IGNORE</td>} ],
    hooks   => [ sub ($r) { My::Pages::of( 'hooks', $r ) }, qr/ChildInit/ ],
    config  => [ sub ($r) { My::Pages::of( 'myconfig', $r ) }, qr/Summary of my perl5/ ],
    rgysubs => [ sub ($r) { My::Pages::of( 'rgysubs', $r ) }, qr/No script was compiled|Click on a package/ ],
};
