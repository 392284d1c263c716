# Cameleer::Advice: reports which modules could be loaded at the start; run by packages.t

use v5.36;

sub My::Advice::of (@fields) {
    my $json = Cameleer::Advice::weigh( join "\0", @fields );
    alarm 0;
    return $json;
}

return {
    no_modules_give_an_empty_list   => [ sub ($r) { My::Advice::of() }, '[]' ],
    a_module_has_its_size           => [ sub ($r) { My::Advice::of( 'module', 'Text/Wrap.pm', '/x' ) }, qr{\A\[\{"kind":"module","name":"Text/Wrap\.pm","file":"/x","bytes":"-?\d+","error":"","brings":"\d+"\}\]\z} ],
    a_missing_module_has_its_error  => [ sub ($r) { My::Advice::of( 'module', 'No/Such.pm', '/x' ) }, qr{"error":"Can't locate No/Such\.pm} ],
    a_module_that_exits_is_reported => [ sub ($r) { My::Advice::of( 'module', TestServer::own_file( 'Ends.pm', 'require POSIX; POSIX::_exit(1)' ), '/x' ) }, qr/"error":"the code ended its process, or took too long"/ ],
};
