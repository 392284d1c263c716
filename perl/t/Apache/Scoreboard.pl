# Apache::Scoreboard: workers and counts of the server as mod_status lists them; run by packages.t

use v5.36;

return {
    parent_idx_by_pid_finds_this_worker         => [ sub ($r) { Apache::Scoreboard->image->parent_idx_by_pid($$) }, '0' ],
    parent_idx_by_pid_of_a_foreign_pid_is_undef => [ sub ($r) { Apache::Scoreboard->image->parent_idx_by_pid(1) // 'undef' }, 'undef' ],
    parents_form_a_chain                        => [ sub ($r) { my $first = Apache::Scoreboard->image->parent; ( $first->pid == $$ ? 'this' : 'other' ) . ( $first->next ? ' more' : '' ) }, 'this' ],
    the_image_has_counts                        => [ sub ($r) { my $image = Apache::Scoreboard->image; join '|', map { $image->$_ =~ /\A\d+\z/a ? $_ : "no $_" } qw(front_pid master_pid connections requests queued kept) }, 'front_pid|master_pid|connections|requests|queued|kept' ],
    fetch_returns_an_image                      => [ sub ($r) { ref Apache::Scoreboard->fetch }, 'Apache::Scoreboard' ],
    another_servers_image_dies                  => [ sub ($r) { eval { Apache::Scoreboard->fetch('http://far/') }; $@ }, qr/\AApache::Scoreboard->fetch: only this server has an image here; .* at \S+Scoreboard\.pl line \d+/ ],
    an_image_without_a_front_is_undef           => [ sub ($r) { local $Apache::Scoreboard::MASTER = 1; my @said = Apache::Scoreboard->image; @said . ( $said[0] // 'undef' ) }, '1undef' ],
};
