# Apache::Status: menu, options and pages of the status handler; run by packages.t

use v5.36;

return {
    menu_item_replaces_its_item          => [ sub ($r) { Apache::Status->menu_item( mine => 'Mine', sub { ['one'] } ) for 1 .. 3; scalar grep { $_->[0] eq 'mine' } Apache::Status::items($r) }, '1' ],
    an_unset_option_is_off               => [ sub ($r) { Apache::Status::is_on( $r, 'StatusPeek' ) ? 'on' : 'off' }, 'off' ],
    registry_cache_returns_the_set_cache => [ sub ($r) { my $cache = { a => 1 }; my $said = Apache::Status->registry_cache($cache) == $cache; Apache::Status->registry_cache->{a} . $said }, '11' ],
    query_parses_the_arguments           => [ sub ($r) { Apache::Status::query($r)->param('b') }, '2' ],
    the_menu_links_each_page             => [ sub ($r) { join '', @{ Apache::Status::menu($r) } }, qr{\?inc">Loaded Modules</a>} ],
    the_head_names_perl_and_process      => [ sub ($r) { Apache::Status::head($r) }, qr/Embedded Perl version <b>v5.*process <b>\d+<\/b>/s ],
    an_unknown_page_is_reported          => [ sub ($r) { Apache::Status::handler($r); '' }, qr/There is no/ ],
    leaks_nothing                        => [ sub ($r) { TestServer::growth( sub { Apache::Status->menu_item( again => 'Again', sub { [] } ) } ) }, 'steady' ],
};
