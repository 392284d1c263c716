# Cameleer::Sections: hands configuration to the server while it is read, and not later; run by packages.t

use v5.36;

return {
    configuration_after_the_start_dies      => [ sub ($r) { eval { Cameleer::Sections::hand('Timeout 5') }; $@ }, qr/\AApache->httpd_conf, \$s->add_config: nothing can be added to the configuration after server startup/ ],
    httpd_conf_after_the_start_dies         => [ sub ($r) { eval { Apache->httpd_conf('Timeout 5') }; $@ }, qr/nothing can be added to the configuration after server startup/ ],
    handed_configuration_is_stored_once     => [ sub ($r) { local $Cameleer::Sections::STATE = 'read'; Cameleer::Sections::hand( 'Timeout 5', "KeepAlive On\n" ); Cameleer::Sections::handed() . '[' . Cameleer::Sections::handed() . ']' }, "Timeout 5\nKeepAlive On\n[]" ],
    known_configuration_is_not_handed_again => [ sub ($r) { local $Cameleer::Sections::STATE = 'known'; Cameleer::Sections::hand('Timeout 5'); '[' . Cameleer::Sections::handed() . ']' }, '[]' ],
    begin_reads_the_table_of_directives     => [ sub ($r) { local %Cameleer::Sections::DIRECTIVES; Cameleer::Sections::begin("Timeout line 1 1\nLocation section 1 1"); join '|', map {"$_ $Cameleer::Sections::DIRECTIVES{$_}{kind}"} sort keys %Cameleer::Sections::DIRECTIVES }, 'location section|timeout line' ],
    forget_removes_variables_only           => [
        sub ($r) {
            eval 'package My::Section; our ($text, @list) = (1, 2); sub one { $text } 1' or die $@;    ## no critic: a package at run time
            Cameleer::Sections::forget('My::Section');
            no strict 'refs';
            join '|', ${'My::Section::text'} // 'undef', scalar @{'My::Section::list'}, My::Section::one();
        },
        'undef|0|1',
    ],
};
