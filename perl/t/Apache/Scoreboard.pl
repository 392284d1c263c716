# Apache::Scoreboard: workers and counts of the server as mod_status lists them; run by packages.t

use v5.36;

return {
    index    => [ sub ($r) { Apache::Scoreboard->image->parent_idx_by_pid($$) }, '0' ],
    no_worker => [ sub ($r) { Apache::Scoreboard->image->parent_idx_by_pid(1) // 'undef' }, 'undef' ],
    chain                      => [ sub ($r) { my $first = Apache::Scoreboard->image->parent; ( $first->pid == $$ ? 'this' : 'other' ) . ( $first->next ? ' more' : '' ) }, 'this' ],
    counts                     => [ sub ($r) { my $image = Apache::Scoreboard->image; join '|', map { $image->$_ =~ /\A\d+\z/a ? $_ : "no $_" } qw(front_pid master_pid connections requests queued kept) }, 'front_pid|master_pid|connections|requests|queued|kept' ],
    fetch                      => [ sub ($r) { ref Apache::Scoreboard->fetch }, 'Apache::Scoreboard' ],
    another_servers_image_dies => [ sub ($r) { eval { Apache::Scoreboard->fetch('http://far/') }; $@ }, qr/\AApache::Scoreboard->fetch: only this server has an image here: .* at \S+Scoreboard\.pl line \d+/ ],
    no_front                   => [ sub ($r) { local $Apache::Scoreboard::MASTER = 1; my @said = Apache::Scoreboard->image; @said . ( $said[0] // 'undef' ) }, '1undef' ],
};
