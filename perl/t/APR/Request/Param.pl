# APR::Request::Param: name, value, charset and taint of a parameter without an upload; run by packages.t

use v5.36;

sub My::Param::of ( $name, $value ) { require APR::Pool; return APR::Request::Param->make( APR::Pool->new, $name, $value ) }

return {
    a_param_is_its_value                      => [ sub ($r) { my $p = My::Param::of( 'n', 'v' ); join '|', $p->name, $p->value, "$p", $p->is_tainted }, 'n|v|v|0' ],
    charset_8_decodes_the_value               => [ sub ($r) { my $p = My::Param::of( 'n', "\xe2\x98\xba" ); $p->charset(8); length $p->value }, '1' ],
    is_tainted_sets_and_returns_the_old_value => [ sub ($r) { my $p = My::Param::of( 'n', 'v' ); join '|', $p->is_tainted(1), $p->is_tainted }, '0|1' ],
    a_text_has_no_upload                      => [ sub ($r) { my $p = My::Param::of( 'n', 'v' ); eval { $p->upload_size }; ( $p->upload_filename // 'undef' ) . " $@" }, qr/\Aundef upload_size: this parameter is not an upload at \S+Param\.pl line \d+/ ],
    upload_type_of_a_text_dies                => [ sub ($r) { eval { My::Param::of( 'n', 'v' )->upload_type }; $@ }, qr/\Aupload_type: this parameter has no header at / ],
    a_foreign_object_dies                     => [ sub ($r) { eval { APR::Request::Param::name( {} ) }; $@ }, qr/\Aexpected a parameter or cookie of libapreq, or a hash with one in \{p\}/ ],
    leaks_nothing                             => [ sub ($r) { TestServer::growth( sub { my $p = My::Param::of( 'n', 'v' ); "$p" } ) }, 'steady' ],
};
