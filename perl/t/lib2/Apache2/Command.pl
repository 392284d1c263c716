# Apache2::Command: walks the directives of a module; run by packages.t

use v5.36;

return {
    walk => [ sub ($r) {
        require Apache2::Module;
        my $module = Apache2::Module::find_linked_module('mod_perl.c');
        my %seen;
        for ( my $command = $module->cmds; $command; $command = $command->next ) { $seen{ $command->name } = $command->args_how }
        join '|', map { exists $seen{$_} ? $_ : 'none' } qw(PerlSetVar PerlModule NoSuchDirective);
    }, 'PerlSetVar|PerlModule|none' ],
};
