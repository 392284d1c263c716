# Apache::VMonitor: the page of the monitor, its parts and its figures; run by packages.t

use v5.36;

return {
    page    => [ sub ($r) { Apache::VMonitor::handler($r) || '' }, qr{<title>Apache::VMonitor</title>.*<td>worker 0</td>.*Total real, by PSS:}s ],
    parts   => [ sub ($r) { local %Apache::VMonitor::Config = (); Apache::VMonitor::handler($r) || '' }, qr{\A(?!.*(?:Mem:|kept alive|<td>)).*Total size}s ],
    fit     => [ sub ($r) { join '|', map { Apache::VMonitor::max_clients(@$_) // 'undef' } [ 500, 10, 4 ], [ 500, 10 ], [ 500, 10, 10 ], [ 5, 10 ] }, '82|50|undef|0' ],
    seconds => [ sub ($r) { Apache::VMonitor::seconds(1234) }, '1.2' ],
    refresh => [ sub ($r) { local $Apache::VMonitor::Config{refresh} = 5; Apache::VMonitor::handler($r); $r->header_out('Refresh') }, qr/5\z/ ],
};
