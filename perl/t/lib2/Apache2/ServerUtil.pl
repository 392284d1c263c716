# Apache2::ServerUtil: root, user, version and start of the server; run by packages.t

use v5.36;

return {
    root                           => [ sub ($r) { my $root = Apache2::ServerUtil::server_root(); -e "$root/site.conf" ? 'there' : $root }, 'there' ],
    relative                       => [ sub ($r) { Apache2::ServerUtil::server_root_relative( $r->pool, 'conf/x' ) eq Apache2::ServerUtil::server_root() . '/conf/x' ? 'below' : 'elsewhere' }, 'below' ],
    defined                        => [ sub ($r) { join '|', map { Apache2::ServerUtil::exists_config_define($_) ? 1 : 0 } qw(MODPERL2 NONE) }, '1|0' ],
    user_id_is_the_configured_user => [ sub ($r) { Apache2::ServerUtil->user_id == TestServer::served_as() ? 'as asked' : Apache2::ServerUtil->user_id }, 'as asked' ],
    version                        => [ sub ($r) { Apache2::ServerUtil::get_server_version() }, qr{mod_perl/2} ],
    server                         => [ sub ($r) { Apache2::ServerUtil->server->server_hostname }, 'localhost' ],
    restarts                       => [ sub ($r) { Apache2::ServerUtil::restart_count() }, qr/\A[1-9]\d*\z/ ],
};
