# Cameleer::XS: loads the C parts of packages once; run by packages.t

use v5.36;

return {
    a_second_load_changes_nothing   => [ sub ($r) { my $before = \&Apache::Table::get; Cameleer::XS::load('Apache::Table') for 1 .. 3; ref Apache::Table->new($r) }, 'Apache::Table' ],
    several_packages_are_loaded     => [ sub ($r) { Cameleer::XS::load(qw(Apache::Leak Apache::Util)); join '|', map { defined &$_ ? 'there' : 'none' } qw(Apache::Leak::count Apache::Util::escape_html) }, 'there|there' ],
    a_package_without_xs_is_ignored => [ sub ($r) { Cameleer::XS::load('No::Such'); 'quiet' }, 'quiet' ],
};
