# Apache::PerlRunXS: runs scripts as Apache::PerlRun and Apache::Registry do; run by packages.t

use v5.36;

sub My::RunXS::of ( $r, $class, $name ) {
    $r->filename("$ENV{TEST_FOLDER}/perl/$name");
    my $status = $class->can('handler')->($r);
    return $status == 0 || $status == 200 ? '' : " $status";
}

return {
    script                    => [ sub ($r) { My::RunXS::of( $r, 'Apache::PerlRunXS', 'script.pl' ) }, 'of a script' ],
    a_missing_script_is_a_404 => [ sub ($r) { My::RunXS::of( $r, 'Apache::PerlRunXS', 'none.pl' ) },   ' 404' ],
    registry                  => [ sub ($r) { My::RunXS::of( $r, 'Apache::RegistryXS', 'script.pl' ) }, 'of a script' ],
    inherited                 => [ sub ($r) { Apache::PerlRunXS->isa('Apache::PerlRun') ? 'a PerlRun' : 'none' }, 'a PerlRun' ],
};
