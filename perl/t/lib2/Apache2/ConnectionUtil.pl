# Apache2::ConnectionUtil: a connection stores Perl values in its pnotes; run by packages.t

use v5.36;

return { pnotes => [ sub ($r) { require Apache2::Connection; my $notes = $r->connection->pnotes; $notes->{x} = 'kept'; $r->connection->pnotes('x') }, 'kept' ] };
