# mod_perl_hooks: the names of the phases; run by packages.t

use v5.36;

return {
    hooks_lists_the_phases => [ sub ($r) { join '|', grep {/\A(?:Trans|Log|ChildInit)\z/} sort( mod_perl_hooks::hooks() ) }, 'ChildInit|Log|Trans' ],
    hook_knows_the_phases  => [ sub ($r) { join '|', map { mod_perl::hook($_) ? 'there' : 'none' } qw(Trans Nonsense) }, 'there|none' ],
};
