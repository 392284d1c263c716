# Apache::Include: inserts the response of a subrequest; run by packages.t

use v5.36;

return {
    inner                   => [ sub ($r) { 'inner of ' . ( $r->is_main ? 'none' : $r->main->uri ) }, 'inner of none' ],
    virtual                 => [ sub ($r) { ' ' . Apache::Include->virtual('/case/Apache/Include/inner') },          'inner of /case/Apache/Include/virtual 200' ],
    request                 => [ sub ($r) { ' ' . Apache::Include->virtual( '/case/Apache/Include/inner', $r ) },    'inner of /case/Apache/Include/request 200' ],
    a_missing_page_is_a_404 => [ sub ($r) { Apache::Include->virtual('/no/such') },                                  '404' ],
    handler                 => [ sub ($r) { Apache::Include::handler( $r, '/case/Apache/Include/inner' ) },          'inner of /case/Apache/Include/handler0' ],
    no_path_is_a_500        => [ sub ($r) { Apache::Include::handler($r) },                                          '500' ],
};
