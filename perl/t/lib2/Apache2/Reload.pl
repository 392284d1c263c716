# Apache2::Reload: registers modules, and loads changed ones anew; run by packages.t

use v5.36;

return {
    registered                      => [ sub ($r) { Apache2::Reload->register_module('My::Module'); Apache2::Reload->unregister_module('My::Module'); 'both' }, 'both' ],
    a_changed_module_is_loaded_anew => [ sub ($r) {
        my ($folder) = $ENV{TEST_FOLDER} =~ /(.+)/s;
        my $write  = sub ($text) { open my $out, '>', "$folder/Reloaded.pm" or die $!; print {$out} "package Reloaded; no warnings; sub said { '$text' } 1;\n"; close $out };
        $write->('first');
        local @INC = ( @INC, $folder );
        require Reloaded;
        Apache2::Reload->register_module('Reloaded');
        Apache2::Reload::handler($r);
        $write->('second');
        utime 1, time + 100, "$folder/Reloaded.pm";
        Apache2::Reload::handler($r);
        Reloaded->said;
    }, 'second' ],
};
