package Apache2::Command;

use v5.36;

# mod_perl's directives, as httpd lists them: name, args_how (http_config.h's numbers), allowed places, error
# text.
my @ROWS = (
    [ 'PerlSwitches',        3, 128,      'Perl Switches' ],
    [ 'PerlModule',          3, 31 | 128, 'PerlModule' ],
    [ 'PerlRequire',         3, 31 | 128, 'PerlRequire' ],
    [ 'PerlSetVar',          2, 31,       'PerlSetVar' ],
    [ 'PerlAddVar',          4, 31,       'PerlAddVar' ],
    [ 'PerlSetEnv',          2, 31,       'PerlSetEnv' ],
    [ 'PerlPassEnv',         3, 128,      'PerlPassEnv' ],
    [ 'PerlOptions',         3, 31,       'Perl Options' ],
    [ 'PerlResponseHandler', 3, 31,       'Subroutine name' ],
);
my @commands = map { bless { at => $_, name => $ROWS[$_][0], args_how => $ROWS[$_][1], req_override => $ROWS[$_][2], errmsg => $ROWS[$_][3] } } 0 .. $#ROWS;

sub first ($class) { return $commands[0] }

sub next ($self) { return defined $self->{at} ? $commands[ $self->{at} + 1 ] : undef }    ## no critic: the name is the API's

sub name         ($self) { return $self->{name} }
sub args_how     ($self) { return $self->{args_how} }
sub req_override ($self) { return $self->{req_override} }
sub errmsg       ($self) { return $self->{errmsg} }
sub cmd_data     ($self) { return $self->{info} }

1;

__END__

=head1 NAME

Apache2::Command - a directive: C<name>, C<args_how>, C<req_override>, C<errmsg>, C<cmd_data>, C<next>

=head1 SYNOPSIS

    for ( my $each = Apache2::Module::find_linked_module('mod_perl.c')->cmds; $each; $each = $each->next ) { print $each->name, "\n" }

=cut
