# Apache::RegistryLexInfo: logs the lexical variables that a run has changed; run by packages.t

use v5.36;

sub My::Lexical::of ( $r, $text ) {
    $r->filename( TestServer::own_file( 'lexical.pl', $text ) );
    chmod 0755, $r->filename =~ /(.+)/s;
    my $status = Apache::RegistryLexInfo::handler($r);
    return $status == 0 || $status == 200 ? '' : " $status";
}

return {
    a_run_without_changes_logs_none       => [ sub ($r) { My::Lexical::of( $r, 'print "dropped"' ) }, qr/\ALexical variables of \S+ that this run changed\n\nnone\n\z/ ],
    a_changed_variable_is_logged          => [ sub ($r) { My::Lexical::of( $r, "# 2\nmy \$n = 40 unless \$n; bump(); sub bump { \$n += 2 }" ) }, qr/^\$n in sub bump\n.*^\+ .*IV = 42/ms ],
    a_die_reaches_the_caller              => [ sub ($r) { My::Lexical::of( $r, "# 3\ndie qq(on purpose\\n)" ) }, "died: on purpose\n" ],
    equal_values_are_no_difference        => [ sub ($r) { Apache::RegistryLexInfo::differences( { a => ['x'] }, { a => ['x'] } ) }, '' ],
    differences_are_listed_by_variable    => [ sub ($r) { Apache::RegistryLexInfo::differences( { a => [ 'x', 'y' ] }, { a => [ 'x', 'z' ], b => ['v'] } ) }, "a\n- y\n+ z\n\nb\n+ v\n\n" ],
    for_each_lexical_visits_all_variables => [ sub ($r) { require B; my %seen; my $code = sub { my ( $one, @two, %three ) = @_ }; Apache::RegistryLexInfo::for_each_lexical( B::svref_2object($code), sub ( $name, $value ) { $seen{$name} = ref $value } ); join '|', sort keys %seen }, '$one|%three|@two' ],
};
