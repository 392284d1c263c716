# mod_perl_hooks: the names of the phases; run by packages.t

use v5.36;

return {
    hooks => [ sub ($r) { join ' ', grep { /\A(?:Access|Response)\z/ } mod_perl_hooks::hooks() }, 'Access Response' ],
};
