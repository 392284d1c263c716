# Apache::Scoreboard::Server: fields of the worker that answers; run by packages.t

use v5.36;

# The worker that answers.
sub My::Worker::own { require Apache::Scoreboard; return ( Apache::Scoreboard->image->servers )[0] }

return {
    pid_is_this_worker                      => [ sub ($r) { My::Worker::own()->pid == $$ ? 'this' : 'other' }, 'this' ],
    a_working_server_has_status_and_request => [ sub ($r) { my $w = My::Worker::own(); $w->status . ' ' . $w->request }, 'W POST /case/Apache/Scoreboard/Server/a_working_server_has_status_and_request' ],
    access_counts_are_equal                 => [ sub ($r) { my $w = My::Worker::own(); join '|', $w->access_count == $w->my_access_count, $w->slot, $w->generation =~ /\A\d+\z/ ? 'number' : 'none' }, '1|0|number' ],
    an_unknown_state_is_a_question_mark     => [ sub ($r) { Apache::Scoreboard::Server->new( { state => 'Odd' } )->status }, '?' ],
    times_are_two_numbers                   => [ sub ($r) { join '|', map { $_ >= 0 ? 'time' : 'none' } My::Worker::own()->times }, 'time|time' ],
    start_time_is_in_the_past               => [ sub ($r) { my $at = My::Worker::own()->start_time; $at > 1e9 && $at <= time + 1 ? 'past' : $at }, 'past' ],
    req_time_is_a_number                    => [ sub ($r) { My::Worker::own()->req_time >= 0 ? 'time' : 'none' }, 'time' ],
};
