# Apache::src: version and absent sources of httpd; run by packages.t

use v5.36;

return {
    loading_dies_with_advice => [ sub ($r) { join '', map { eval { Apache::src->new->$_; 1 } ? 'given' : $@ =~ /\AApache::src->$_: modules in C for httpd cannot be built here: .*no source of it/ ? 'died ' : $@ } qw(inc typemaps define ccflags main) }, 'died ' x 5 ],
    httpd_has_no_sources     => [ sub ($r) { scalar( () = map { Apache::src->$_ } qw(find dir default_dir) ) }, '0' ],
    mmn_eq_is_true_for_1_3   => [ sub ($r) { Apache::src->mmn_eq . '|' . Apache::src->module_magic_number }, '1|19990320' ],
    httpd_version_is_1_3     => [ sub ($r) { Apache::src->httpd_version . '|' . Apache::src->version }, qr/\A1\.3\.\d+\|Apache\/1\.3 API/ ],
};
