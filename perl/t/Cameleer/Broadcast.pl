# Cameleer::Broadcast: what a worker without an event loop can do, and errors; run by packages.t

use v5.36;

sub My::Broadcast::error ($code) {
    $@ = 'before';
    return eval { $code->(); 1 } ? 'none' : $@;
}

return {
    publish_returns_nothing      => [ sub ($r) { my @result = Cameleer::Broadcast->publish( news => 'text' ); scalar @result }, '0' ],
    presence_is_a_number         => [ sub ($r) { Cameleer::Broadcast->presence('news') }, '0' ],
    only_event_workers_subscribe => [ sub ($r) { My::Broadcast::error( sub { Cameleer::Broadcast->subscribe( news => sub { } ) } ) }, qr/->subscribe: this worker has one request at a time .*; subscribe in a pool with PsgiMode event at / ],
    a_subscriber_is_a_sub        => [ sub ($r) { My::Broadcast::error( sub { Cameleer::Broadcast->subscribe( news => 'name' ) } ) }, qr/expected a channel and a sub at / ],
    wide_characters_are_an_error => [ sub ($r) { My::Broadcast::error( sub { Cameleer::Broadcast->publish( news => "\x{263a}" ) } ) }, qr/->publish: a message has wide characters: encode it first at / ],
    a_wide_channel_is_an_error   => [ sub ($r) { My::Broadcast::error( sub { Cameleer::Broadcast->publish( "\x{263a}", '' ) } ) }, qr/->publish: the name of a channel has wide characters: encode it first at / ],
    a_long_message_is_an_error   => [ sub ($r) { My::Broadcast::error( sub { Cameleer::Broadcast->publish( news => 'x' x 65_537 ) } ) }, qr/a message of 65537 bytes is longer than BroadcastMaxMessage, 65536 at / ],
    a_child_cannot_publish       => [ sub ($r) {
        local $ENV{PATH} = '/usr/bin:/bin';    # an implicit fork is checked under PerlTaintCheck
        open my $child, '-|' or do { print STDOUT My::Broadcast::error( sub { Cameleer::Broadcast->publish( news => '' ) } ); require POSIX; STDOUT->flush; POSIX::_exit(0) };
        my $text = join '', <$child>;
        close $child;
        $text;
    }, qr/a child process of a worker cannot publish/ ],
    upgraded_bytes_are_bytes     => [ sub ($r) { my $text = "f\xfc"; utf8::upgrade($text); My::Broadcast::error( sub { Cameleer::Broadcast->publish( news => $text ) } ) }, 'none' ],
    hold_makes_two_fields        => [ sub ($r) { join '|', Cameleer::Broadcast->hold( [ 'a', 'b,c' ] ) }, 'Cameleer-Hold|stream|Cameleer-Channel|a, b%2Cc' ],
    a_kind_of_hold_is_checked    => [ sub ($r) { My::Broadcast::error( sub { Cameleer::Broadcast->hold( a => 'all' ) } ) }, qr/->hold: expected stream, raw or response, got all at / ],
    the_error_variable_stays     => [ sub ($r) { local $@ = 'before'; Cameleer::Broadcast->publish( news => '' ); $@ }, 'before' ],
};
