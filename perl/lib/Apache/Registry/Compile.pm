package Apache::Registry::Compile;

# No pragma and no lexical variable precedes this eval: scripts would see it.
sub evaluate { eval $_[0] }    ## no critic: compiling code is the job

use v5.36;

# Variables of the script that its subs share only in the first request: perl warns about each use.
my @unshared;

# evaluate(), with one warning for all variables that will not remain shared.
sub compile ($text) {
    my $before = $SIG{__WARN__};
    my $ours   = sub ($warning) { gather($warning) or pass( $before, $warning ) };
    my @outer  = splice @unshared;
    $SIG{__WARN__} = $ours;
    evaluate($text);
    {
        local $@;
        # A BEGIN block may have set its own hook, which stays.
        my $is_ours = ref $SIG{__WARN__} && $SIG{__WARN__} == $ours;
        if    ( !$is_ours )        { }
        elsif ( defined $before ) { $SIG{__WARN__} = $before }
        else                      { delete $SIG{__WARN__} }
        warn told() if @unshared;
    }
    @unshared = @outer;
    return;
}

sub gather ($warning) {
    return if ref $warning || $warning !~ /\AVariable "([^"]+)" will not stay shared(.*)/s;
    push @unshared, [ $1, $2 ] unless grep { $_->[0] eq $1 } @unshared;
    return 1;
}

# perl's own text for the first variable, followed by the names of the others.
sub told () {
    my ( $first, @others ) = @unshared;
    my ( $name, $place ) = @$first;
    my $rest = @others ? '; nor will ' . join ', ', map { $_->[0] } @others : '';
    chomp $place;
    $place =~ s/[.]\z//;
    return qq{Variable "$name" will not stay shared$place$rest.\n};
}

# Calls the hook without a hook for its own warnings, as perl does.
sub pass ( $hook, $warning ) {
    local $SIG{__WARN__};
    return warn $warning unless defined $hook && length $hook && $hook ne 'DEFAULT';
    no strict 'refs';
    return ref $hook ? $hook->($warning) : &{ $hook =~ /::|'/ ? $hook : "main::$hook" }($warning);
}

1;

__END__

=head1 NAME

Apache::Registry::Compile - evaluates code without surrounding pragmas and variables

=cut
