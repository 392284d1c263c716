# Apache::RegistryBB: runs scripts without checks of their mode; run by packages.t

use v5.36;

sub My::Bare::of ( $r, $name ) {
    $r->filename("$ENV{TEST_FOLDER}/$name");
    my $status = Apache::RegistryBB::handler($r);
    return $status == 0 || $status == 200 ? '' : " $status";
}

return {
    a_script_runs                            => [ sub ($r) { My::Bare::of( $r, 'perl/script.pl' ) }, 'of a script' ],
    a_script_without_execute_permission_runs => [ sub ($r) { my $path = TestServer::own_file( 'bare.pl', 'print "without a mode"' ); chmod 0644, $path; My::Bare::of( $r, 'bare.pl' ) }, 'without a mode' ],
    a_missing_script_is_a_404                => [ sub ($r) { My::Bare::of( $r, 'perl/none.pl' ) },   ' 404' ],
    a_folder_is_declined                     => [ sub ($r) { My::Bare::of( $r, 'perl' ) },           ' -1' ],
    output_precedes_the_die                  => [ sub ($r) { TestServer::own_file( 'dying.pl', 'print "begun"; die "on purpose\n"' ); My::Bare::of( $r, 'dying.pl' ) }, qr/\Abegun/ ],
};
