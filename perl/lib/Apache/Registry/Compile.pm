package Apache::Registry::Compile;

# No pragma and no lexical variable precedes this eval: scripts would see it.
sub evaluate { eval $_[0] }    ## no critic: compiling code is the job

use v5.36;

# Variables of the script that its subs share only in the first request: perl warns about each use.
my @unshared;

# The requests whose script is being compiled, also after a BEGIN block has called exit, whose script printed then, and
# whose script is written for FastCGI; 0 for none.
my ( $compiling, $printing, $looping ) = ( 0, 0, 0 );

# Why the script of the current request, which has run for the first time, can answer no other request in this process:
# 'prints' if it has printed, and perhaps exited, while it was compiled; 'fastcgi' if FCGI has been loaded, whose loop
# ends for good after one request without FastCGI; otherwise 'no'.
sub needs_processes (@) {
    my ( $request, $has_output ) = Apache::Registry::output();
    return 'no' if !$request;
    return 'prints' if $printing == $request || $compiling == $request && $has_output;
    return $looping == $request && $INC{'FCGI.pm'} ? 'fastcgi' : 'no';
}

# evaluate(), with one warning for all variables that will not remain shared.
sub compile ($text) {
    my $before = $SIG{__WARN__};
    my $ours   = sub ($warning) { gather($warning) or pass( $before, $warning ) };
    my @outer  = splice @unshared;
    $SIG{__WARN__} = $ours;
    my ( $request, $has_output ) = Apache::Registry::output();
    $compiling = $has_output ? 0 : $request;
    $looping   = $request if $text =~ /\bFCGI\b|\bCGI::Fast\b|\bFastCGI\b/;
    evaluate($text);
    $printing  = $compiling if $compiling && ( Apache::Registry::output() )[1];
    $compiling = 0;
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
