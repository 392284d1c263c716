# APR::Request::Value: charset, flags and class of a value of libapreq; run by packages.t

use v5.36;

sub My::Values2::of ( $value, %more ) { return APR::Request::Value->new( name => 'n', value => $value, %more ) }

return {
    the_charset_is_guessed_from_the_bytes => [ sub ($r) { join '|', map { My::Values2::of($_)->charset } 'a', "\xe9", "\x80\xe9", "\xe2\x98\xba" }, '0|1|2|8' ],
    untainted_utf8_is_decoded             => [ sub ($r) { join '|', map { length $_->plain } My::Values2::of("\xe2\x98\xba"), My::Values2::of( "\xe2\x98\xba", is_tainted => 0 ) }, '3|1' ],
    a_flag_returns_its_old_value          => [ sub ($r) { my $v = My::Values2::of('v'); join '|', $v->flag('secure'), $v->flag( secure => 'yes' ), $v->flag('secure') }, '0|0|1' ],
    a_value_becomes_an_object_of_a_class  => [ sub ($r) { my $v = My::Values2::of('v'); join '|', $v->as(undef), ref $v->as('My::Class'), APR::Request::Value::behind( { _p => $v->as('My::Class') }, 'p' ) == $v ? 'itself' : 'other' }, 'v|My::Class|itself' ],
    a_foreign_object_dies                 => [ sub ($r) { eval { APR::Request::Value::behind( [], 'p' ) }; $@ }, qr/\Aexpected a parameter or cookie of libapreq, or a hash with one in \{p\} at / ],
    a_circular_object_dies                => [ sub ($r) { my $own = {}; $own->{p} = $own; eval { APR::Request::Value::behind( $own, 'p' ) }; delete $own->{p}; $@ ? 'died' : 'found' }, 'died' ],
};
