# Apache::Include: inserts the response of a subrequest; run by packages.t

use v5.36;

return {
    a_main_request_has_no_main => [ sub ($r) { 'inner of ' . ( $r->is_main ? 'none' : $r->main->uri ) }, 'inner of none' ],
    virtual_runs_a_subrequest  => [ sub ($r) { ' ' . Apache::Include->virtual('/case/Apache/Include/a_main_request_has_no_main') },          'inner of /case/Apache/Include/virtual_runs_a_subrequest 200' ],
    virtual_accepts_a_request  => [ sub ($r) { ' ' . Apache::Include->virtual( '/case/Apache/Include/a_main_request_has_no_main', $r ) },    'inner of /case/Apache/Include/virtual_accepts_a_request 200' ],
    a_missing_page_is_a_404    => [ sub ($r) { Apache::Include->virtual('/no/such') },                                  '404' ],
    handler_runs_a_subrequest  => [ sub ($r) { Apache::Include::handler( $r, '/case/Apache/Include/a_main_request_has_no_main' ) },          'inner of /case/Apache/Include/handler_runs_a_subrequest0' ],
    no_path_is_a_500           => [ sub ($r) { Apache::Include::handler($r) },                                          '500' ],
};
