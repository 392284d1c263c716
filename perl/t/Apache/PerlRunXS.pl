# Apache::PerlRunXS: runs scripts as Apache::PerlRun and Apache::Registry do; run by packages.t

use v5.36;

sub My::RunXS::of ( $r, $class, $name ) {
    $r->filename("$ENV{TEST_FOLDER}/perl/$name");
    my $status = $class->can('handler')->($r);
    return $status == 0 || $status == 200 ? '' : " $status";
}

return {
    perl_run_xs_runs_a_script => [ sub ($r) { My::RunXS::of( $r, 'Apache::PerlRunXS', 'script.pl' ) }, 'of a script' ],
    a_missing_script_is_a_404 => [ sub ($r) { My::RunXS::of( $r, 'Apache::PerlRunXS', 'none.pl' ) },   ' 404' ],
    registry_xs_runs_a_script => [ sub ($r) { My::RunXS::of( $r, 'Apache::RegistryXS', 'script.pl' ) }, 'of a script' ],
    perl_run_xs_is_a_perl_run => [ sub ($r) { Apache::PerlRunXS->isa('Apache::PerlRun') ? 'a PerlRun' : 'none' }, 'a PerlRun' ],
};
