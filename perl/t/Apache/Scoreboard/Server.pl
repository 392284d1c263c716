# Apache::Scoreboard::Server: fields of the worker that answers; run by packages.t

use v5.36;

# The worker that answers.
sub My::Worker::own { require Apache::Scoreboard; return ( Apache::Scoreboard->image->servers )[0] }

return {
    pid      => [ sub ($r) { My::Worker::own()->pid == $$ ? 'this' : 'other' }, 'this' ],
    status   => [ sub ($r) { my $w = My::Worker::own(); $w->status . ' ' . $w->request }, 'W POST /case/Apache/Scoreboard/Server/status' ],
    counts   => [ sub ($r) { my $w = My::Worker::own(); join '|', $w->access_count == $w->my_access_count, $w->slot, $w->generation =~ /\A\d+\z/ ? 'number' : 'none' }, '1|0|number' ],
    unknown  => [ sub ($r) { Apache::Scoreboard::Server->new( { state => 'Odd' } )->status }, '?' ],
    times    => [ sub ($r) { join '|', map { $_ >= 0 ? 'time' : 'none' } My::Worker::own()->times }, 'time|time' ],
    start    => [ sub ($r) { my $at = My::Worker::own()->start_time; $at > 1e9 && $at <= time + 1 ? 'past' : $at }, 'past' ],
    since    => [ sub ($r) { My::Worker::own()->req_time >= 0 ? 'time' : 'none' }, 'time' ],
};
