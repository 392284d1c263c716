# Apache::Resource: parses and sets limits of resources; run by packages.t

use v5.36;

sub My::Resources::wanted (%set) {
    local @ENV{ map {"PERL_RLIMIT_$_"} keys %set } = values %set;
    my %wanted = Apache::Resource::wanted();
    return join '|', map {"$_=$wanted{$_}"} sort keys %wanted;
}

return {
    no_variable_sets_no_limit           => [ sub ($r) { My::Resources::wanted() }, '' ],
    a_variable_sets_soft_and_hard_limit => [ sub ($r) { My::Resources::wanted( CPU => '5:6', DATA => 7 ) }, 'CPU=5:6|DATA=7' ],
    defaults_on_sets_all_limits         => [ sub ($r) { My::Resources::wanted( DEFAULTS => 'On', CPU => 5 ) }, 'AS=64|CORE=0|CPU=5|DATA=64|FSIZE=10|RSS=16|STACK=20' ],
    defaults_off_sets_no_limit          => [ sub ($r) { My::Resources::wanted( DEFAULTS => 'Off' ) }, '' ],
    an_amount_has_its_resources_unit    => [ sub ($r) { join '|', map { Apache::Resource::amount(@$_) // 'none' } [ CPU => 10 ], [ DATA => 1 ], [ DATA => 2**20 ], [ NOFILE => 9 ], [ CPU => 'many' ], [ CPU => '' ], [ CPU => '1.5' ] }, '10|1048576|1048576|9|none|none|none' ],
    unlimited_has_three_names           => [ sub ($r) { join '|', map { Apache::Resource::amount( CPU => $_ ) == BSD::Resource::RLIM_INFINITY() } qw(unlimited Infinity -1) }, '1|1|1' ],
    invalid_limits_are_logged           => [ sub ($r) { Apache::Resource::set_limit( NONSENSE => 1 ); Apache::Resource::set_limit( CORE => 'x' ); Apache::Resource::set_limit( CORE => '1:y' ); 'logged' }, 'logged' ],
    the_status_page_lists_limits        => [ sub ($r) { join '', @{ Apache::Resource::status_rlimit() } }, qr{<td>RLIMIT_CPU</td><td>} ],
    leaks_nothing                       => [ sub ($r) { TestServer::growth( \&Apache::Resource::wanted ) }, 'steady' ],
};
