# Apache::VMonitor: the page of the monitor, its parts and its figures; run by packages.t

use v5.36;

return {
    the_page_lists_workers_and_memory      => [ sub ($r) { Apache::VMonitor::handler($r) || '' }, qr{<title>Apache::VMonitor</title>.*<td>worker 0</td>.*Total real, by PSS:}s ],
    a_part_that_is_off_is_absent           => [ sub ($r) { local %Apache::VMonitor::Config = (); Apache::VMonitor::handler($r) || '' }, qr{\A(?!.*(?:Mem:|kept alive|<td>)).*Total size}s ],
    max_clients_is_what_fits_in_memory     => [ sub ($r) { join '|', map { Apache::VMonitor::max_clients(@$_) // 'undef' } [ 500, 10, 4 ], [ 500, 10 ], [ 500, 10, 10 ], [ 5, 10 ] }, '82|50|undef|0' ],
    seconds_prints_milliseconds_as_seconds => [ sub ($r) { Apache::VMonitor::seconds(1234) }, '1.2' ],
    refresh_sets_the_header                => [ sub ($r) { local $Apache::VMonitor::Config{refresh} = 5; Apache::VMonitor::handler($r); $r->header_out('Refresh') }, qr/5\z/ ],
};
