# Apache::OutputChain: links change the output in order, for each way to print; run by packages.t

use v5.36;

# Links: one prints in capitals, one buffers to the end, one dies.
@My::Upper::ISA = @My::Framed::ISA = @My::Broken::ISA = 'Apache::OutputChain';
sub My::Upper::PRINT   ( $self, @text ) { $self->Apache::OutputChain::PRINT( map {uc} @text ) }
sub My::Framed::PRINT  ( $self, @text ) { $self->{seen} .= join '', @text; return 1 }
sub My::Framed::finish ($self)          { $self->Apache::OutputChain::PRINT("[$self->{seen}]") }
sub My::Broken::PRINT  ( $self, @text ) { die "no @text here\n" }

sub My::Linked::by ( $r, @classes ) { Apache::OutputChain::handler( $r, $_ ) for @classes; return '' }

return {
    handler_without_links_prints_plain_text => [ sub ($r) { Apache::OutputChain::handler($r) . do { print 'plain '; '' } }, qr/\Aplain 0\z/ ],
    a_link_changes_the_output               => [ sub ($r) { My::Linked::by( $r, 'My::Upper' ); print 'a ', 'text'; '' }, 'A TEXT' ],
    links_run_in_order                      => [ sub ($r) { My::Linked::by( $r, 'My::Upper', 'My::Framed' ); print 'a'; print 'b'; '' }, '[AB]' ],
    printf_passes_the_chain                 => [ sub ($r) { My::Linked::by( $r, 'My::Upper' ); printf '%s-%d', 'x', 3; '' }, 'X-3' ],
    syswrite_passes_the_chain               => [ sub ($r) { My::Linked::by( $r, 'My::Upper' ); syswrite STDOUT, 'abcdef', 2, 1; '' }, 'BC' ],
    file_methods_succeed                    => [ sub ($r) { My::Linked::by( $r, 'My::Upper' ); my $file = tied *STDOUT; join '', $file->FILENO, $file->BINMODE, $file->CLOSE }, '111' ],
    a_die_of_a_link_reaches_print           => [ sub ($r) { My::Linked::by( $r, 'My::Broken' ); eval { print 'text' }; $@ }, "no text here\n" ],
    the_next_request_has_no_link            => [ sub ($r) { print 'without a link'; '' }, 'without a link' ],
};
