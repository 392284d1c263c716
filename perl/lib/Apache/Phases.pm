package Apache::Phases;

use v5.36;

use Apache::Constants qw(OK DECLINED);

# Handlers that Perl code has pushed, or set instead of the configured ones: by the number of the request's
# record and the phase.
my %STACKS;

# Errors are reported at the caller of Apache's methods.
our @CARP_NOT = ('Apache');

# mod_perl 2's phases that end with the first handler that does not decline; in mod_perl 1 all handlers of a phase run.
our %ONE_IS_ENOUGH;

# Handlers of the phases of a process, which belong to no request.
my %OF_PROCESS = map { $_ => [] } qw(PerlChildInitHandler PerlChildExitHandler PerlRestartHandler PerlOpenLogsHandler
    PerlPostConfigHandler);

package Apache {
    our @CLEANUPS;

    sub push_handlers {
        my ( $self, $phase, @handlers ) = @_;
        @handlers = map { ref eq 'ARRAY' ? @$_ : $_ } @handlers;
        if ( my $list = $OF_PROCESS{$phase} ) { push @$list, @handlers }
        # Apache::DBI calls this in a worker that has no request yet.
        elsif ( $phase eq 'PerlCleanupHandler' && !Apache->request ) { push @CLEANUPS, map { [ $_, 0 ] } @handlers }
        else                                  { push @{ Apache::Phases::stack( $self, $phase, 0 ) }, @handlers }
        return 1;
    }

    # undef, DONE and [] remove all handlers of the phase.
    sub set_handlers ( $self, $phase, $handlers ) {
        $handlers = undef if defined $handlers && !ref $handlers && $handlers eq Apache::Constants::DONE();
        my @handlers = grep { defined && length } ref $handlers eq 'ARRAY' ? @$handlers : $handlers;
        if ( my $list = $OF_PROCESS{$phase} ) { @$list = @handlers }
        elsif ( ref $self && ( Apache::current_callback($self) // '' ) eq $phase ) {
            Apache::Phases::replace_running( $self, $phase, $handlers, @handlers );
        }
        else { @{ Apache::Phases::stack( $self, $phase, 1 ) } = @handlers }
        return 1;
    }

    # Returns a reference to the list of names and code.
    sub get_handlers ( $self, $phase ) {
        my $of_process = $OF_PROCESS{$phase};
        my @handlers   = $of_process ? @$of_process : Apache::Phases::of( $self, $phase );
        return \@handlers;
    }

    sub can_stack_handlers { return 1 }
    sub perl_hook          { return mod_perl::hook( $_[-1] ) }
}

# The list of handlers that run after, or instead of, the configured handlers of a phase.
sub stack ( $r, $phase, $replaces ) {
    $r->want_cleanup;
    if ( !$r->_stack_touched( $phase, $replaces ) ) {
        require Carp;
        Carp::croak("there is no phase $phase");
    }
    my $stacks = $STACKS{ $r->number } //= {};
    $stacks->{replaced}{$phase} = 1 if $replaces;
    return $stacks->{list}{$phase} //= [];
}

# In the running phase, the configured handlers continue unless undef is set; pushed ones are removed.
# get_handlers returns the new list.
sub replace_running ( $r, $phase, $value, @handlers ) {
    $r->want_cleanup;
    @{ $STACKS{ $r->number }{list}{$phase} // [] } = ();
    $r->_stack_touched( $phase, 1 ) unless defined $value;
    $STACKS{ $r->number }{shown}{$phase} = \@handlers;
    return;
}

sub of ( $r, $phase ) {
    my $stacks     = $STACKS{ $r->number };
    my $shown      = $stacks && $stacks->{shown}{$phase};
    return ( @$shown, @{ $stacks->{list}{$phase} // [] } ) if $shown;
    my @configured = $stacks && $stacks->{replaced}{$phase} ? () : $r->_configured($phase);
    return ( @configured, $stacks ? @{ $stacks->{list}{$phase} // [] } : () );
}

# The server calls this in the running phase. Runs its handlers until one returns a value other than OK and DECLINED.
# exit ends only its own handler: the server calls again for the remaining ones.
sub run ($r) {
    my $phase  = Apache::current_callback($r);
    my $list   = $STACKS{ $r->number }{list}{$phase} // return DECLINED;
    my $status = DECLINED;
    for ( my $at = \( $STACKS{ $r->number }{at}{$phase} //= 0 ) ; $$at < @$list ; ) {
        $status = call( $r, $list->[ $$at++ ] );
        $status = OK if !defined $status || $status !~ /\A-?\d+\z/ || $status == 1 || $status == 200 || $status > 600;
        next if $status == DECLINED || $status == OK && !$ONE_IS_ENOUGH{$phase};
        $$at = @$list;
        last;
    }
    return $status;
}

# Whether handlers or cleanups registered before the fork must run in a fresh worker.
sub concern_workers { return @{ $OF_PROCESS{PerlChildInitHandler} } || @Apache::CLEANUPS }

# The server calls this: runs the handlers of a phase of the process.
sub run_of_process ($phase) {
    for my $handler ( @{ $OF_PROCESS{$phase} } ) {
        eval { call( undef, $handler ); 1 } or Apache::log_error($@);
    }
    # Without a request the cleanups would never run.
    Apache::run_cleanups();
    return;
}

sub call ( $r, $handler ) {
    my $dispatcher = $r && $r->dispatcher;
    return code($dispatcher)->( $r, $handler ) if defined $dispatcher;
    return code($handler)->($r);
}

# Makes code of two names: the code of PerlDispatchHandler is called with the handler's name.
sub dispatching ( $dispatcher, $handler ) {
    my $code = code($dispatcher);
    return sub ($r) { return $code->( $r, $handler ) };
}

sub code ($handler) {
    return $handler if ref $handler;
    require Cameleer;
    my ( $code, $class ) = Cameleer::resolve_handler($handler);
    return $class ? sub { $code->( $class, @_ ) } : $code;
}

# A reference to the list of pushed handlers of a process's phase; empty for other phases.
sub of_process ($phase) { return $OF_PROCESS{$phase} // [] }

sub forget {
    %STACKS = ();
    return;
}

1;

__END__

=head1 NAME

Apache::Phases - handlers that Perl code adds to the phases of a request

=head1 SYNOPSIS

    $r->push_handlers( PerlLogHandler => sub ($r) { ...; return OK } );
    $r->push_handlers( PerlFixupHandler => [ 'My::Fixup', \&other ] );
    $r->set_handlers( PerlAuthenHandler => undef );
    my $handlers = $r->get_handlers('PerlHandler');    # reference to names and code
    Apache->push_handlers( PerlChildInitHandler => \&connect );

=head1 DESCRIPTION

Part of the API of mod_perl 1.x, loaded with L<Apache>. Handlers that are pushed or set apply to
this request only, and run after the configured handlers or instead of them. An unknown phase is an
error of the caller. Handlers of a process's phases (C<PerlChildInitHandler PerlChildExitHandler
PerlRestartHandler>) stay.

=cut
