# Apache::Status::Pages: the pages of the status handler, with all values escaped; run by packages.t

use v5.36;

sub My::Pages::of ( $name, $r ) { require Apache::Status; my ($item) = grep { $_->[0] eq $name } Apache::Status::Pages::items(); return join '', @{ $item->[2]->( $r, undef ) } }

return {
    a_table_has_head_and_rows      => [ sub ($r) { join '', @{ Apache::Status::Pages::table( ['A'], ['<b>1</b>'] ) } }, qq{<table border="1">\n<tr><th>A</th></tr>\n<tr><td><b>1</b></td></tr>\n</table>\n} ],
    a_link_is_escaped              => [ sub ($r) { require Apache::Status; Apache::Status::Pages::link_to( $r, '<x>' ) }, qr{/&lt;x&gt;">&lt;x&gt;</a>\z} ],
    inc_lists_loaded_modules       => [ sub ($r) { My::Pages::of( 'inc', $r ) }, qr{>Apache::Status::Pages</a></td>} ],
    script_lists_required_files    => [ sub ($r) { My::Pages::of( 'script', $r ) }, qr/PerlRequire/ ],
    env_is_escaped                 => [ sub ($r) { local $ENV{ODD} = '<odd>'; My::Pages::of( 'env', $r ) }, qr{<td>ODD</td><td>&lt;odd&gt;</td>} ],
    sig_lists_the_handlers         => [ sub ($r) { local $SIG{USR2} = 'IGNORE'; My::Pages::of( 'sig', $r ) }, qr{<td>USR2</td><td>IGNORE</td>} ],
    hooks_lists_the_phases         => [ sub ($r) { My::Pages::of( 'hooks', $r ) }, qr/ChildInit/ ],
    myconfig_is_perls_summary      => [ sub ($r) { My::Pages::of( 'myconfig', $r ) }, qr/Summary of my perl5/ ],
    rgysubs_lists_compiled_scripts => [ sub ($r) { My::Pages::of( 'rgysubs', $r ) }, qr/No script was compiled|Click on a package/ ],
};
