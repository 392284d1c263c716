# APR::Request::Store: a table of parameters can be read and walked, not written; run by packages.t

use v5.36;

# A table of these names and values.
sub My::Stored::of (@pairs) {
    require "APR/Request/$_.pm" for qw(Value Param);
    my $store = APR::Request::Store->new;
    while ( my ( $name, $value ) = splice @pairs, 0, 2 ) { $store->add( APR::Request::Value->new( name => $name, value => $value ) ) }
    return $store->table('APR::Request::Param::Table');
}

return {
    values_are_found_by_any_case          => [ sub ($r) { my $t = My::Stored::of( a => 1, b => 2, A => 3 ); join '|', $t->{a}, scalar $t->get('A'), $t->get('a'), keys %$t, values %$t }, '1|1|1|3|a|b|A|1|2|3' ],
    each_visits_all_values                => [ sub ($r) { my $t = My::Stored::of( a => 1, a => 2 ); my $s = ''; while ( my ( $n, $v ) = each %$t ) { $s .= "$n$v" } $s }, 'a1a2' ],
    do_visits_the_values_of_a_name        => [ sub ($r) { my $t = My::Stored::of( a => 1, b => 2, a => 3 ); my $s = ''; $t->do( sub { $s .= "@_;" }, 'A' ); $s . $t->do( sub { 0 } ) }, 'a 1;a 3;0' ],
    a_die_in_do_reaches_the_caller        => [ sub ($r) { my $t = My::Stored::of( a => 1 ); eval { $t->do( sub { die "in the code\n" } ) }; $@ . $t->{a} }, "in the code\n1" ],
    do_without_code_dies                  => [ sub ($r) { my $t = My::Stored::of( a => 1 ); eval { $t->do('name') }; $@ }, qr/\AUsage: \$table->do\(\\&code, \@names\) at \S+Store\.pl line \d+/ ],
    a_store_is_read_only                  => [ sub ($r) { my $t = My::Stored::of( a => 1 ); join '', map { eval { $_->(); 1 } ? 'changed' : $@ =~ /\Athe input of a request is read-only/ ? 'died ' : $@ } sub { $t->{a} = 2 }, sub { delete $t->{a} }, sub { %$t = () } }, 'died died died ' ],
    param_class_must_be_a_class_of_params => [ sub ($r) { my $t = My::Stored::of( a => 1 ); $t->param_class('APR::Request::Param'); eval { $t->param_class('My::Stored') }; ref( $t->{a} ) . ( $@ =~ /My::Stored is no APR::Request::Param/ ? ' refused' : $@ ) }, 'APR::Request::Param refused' ],
    leaks_nothing                         => [ sub ($r) { TestServer::growth( sub { my $t = My::Stored::of( a => 1, b => 2 ); eval { $t->do( sub { die "x\n" } ) }; my @all = %$t } ) }, 'steady' ],
};
