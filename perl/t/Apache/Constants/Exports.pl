# Apache::Constants::Exports: tags export their constants, and an unknown tag dies; run by packages.t

use v5.36;

return {
    a_tag_imports_its_constants => [ sub ($r) { package My::Tagged; Apache::Constants->import(':common'); My::Tagged->can('FORBIDDEN')->() }, '403' ],
    an_unknown_tag_dies         => [ sub ($r) { eval { Apache::Constants->import(':no_such_tag'); 1 } ? 'imported' : 'died' }, 'died' ],
};
