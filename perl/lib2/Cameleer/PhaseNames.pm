package Cameleer::PhaseNames;

use v5.36;

# mod_perl 2's phases, without `Perl` and `Handler`.
my @PHASES = qw(OpenLogs PostConfig ChildInit ChildExit PreConnection ProcessConnection PostReadRequest Trans MapToStorage HeaderParser
    Access Authen Authz Type Fixup Response Log Cleanup InputFilter OutputFilter);

my $PHASE = join '|', @PHASES;

sub all () { return @PHASES }

# The directive of a phase, from a name that push_handlers accepts; undef for unknown names. The name may have
# any suffix.
sub directive ($name) {
    return "Perl$1Handler" if $name =~ /\A(?:Perl)?($PHASE)/;
    return $name =~ /\A(?:Perl)?Handler\z/ ? 'PerlResponseHandler' : undef;
}

1;

__END__

=head1 NAME

Cameleer::PhaseNames - mod_perl 2's phases and their names

=head1 SYNOPSIS

    Cameleer::PhaseNames::directive('Cleanup');           # PerlCleanupHandler
    Cameleer::PhaseNames::directive('CleanupHandler');    # the same

=cut
