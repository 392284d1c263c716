# Apache2::Process: the process of a server and its pools; run by packages.t

use v5.36;

return { current => [ sub ($r) { require Apache2::ServerRec; my $process = $r->server->process; join '|', $process->short_name, ref $process->pool }, 'cameleer|APR::Pool' ] };
