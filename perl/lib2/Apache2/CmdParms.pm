package Apache2::CmdParms;

use v5.36;

use Apache2::Command   ();
use Apache2::Directive ();
use Cameleer::Directives ();

our @ISA = ('Apache::CmdParms');

$Cameleer::Directives::PARMS = __PACKAGE__;

# The kinds of context of a directive; see Apache2::Const's group :context.
my @CONTEXTS = (
    [ 1,  '<VirtualHost>' ], [ 2, '<Limit>' ], [ 4, '<Directory>' ], [ 8, '<Location>' ], [ 16, '<Files>' ], [ 32, '.htaccess' ],
);

sub cmd ($self) { return bless $self->{cmd}, 'Apache2::Command' }

sub directive ($self) {
    return Apache2::Directive::of_line( @$self{qw(file line)}, join( ' ', $self->{cmd}{name}, $self->{said} ), split /\n/, $self->{inside} );
}

sub context ($self) { return bless \( my $section = $self->{section} ), 'Apache2::ConfVector' }

sub pool ($self) {
    require Cameleer::Pools;
    return Cameleer::Pools::of_process();
}
*temp_pool = \&pool;

# The reason why the directive may not be in its context; undef if it may.
sub check_cmd_context ( $self, $forbidden ) {
    for my $context (@CONTEXTS) {
        my ( $bit, $name ) = @$context;
        next unless $forbidden & $bit && $self->stands_in($bit);
        return "$self->{cmd}{name} cannot occur within $name section";
    }
    return undef;    ## no critic: a list context expects one value
}

sub stands_in ( $self, $bit ) {
    return 1 if $bit == 32 && $self->{is_htaccess};
    my $path = $self->{path} // '';
    return $bit == 8 if $path ne '' && $self->{in} =~ /\ALocation/i;
    return $bit == 4 if $path ne '' && $self->{in} =~ /\ADirectory/i;
    return $bit == 16 if $path ne '' && $self->{in} =~ /\AFiles/i;
    return 0;
}

# Directives do not know a surrounding <Limit>: they apply to all methods.
sub method_is_limited ( $self, $method ) { return 1 }

# In a .htaccess file, the Options that its AllowOverride permits.
sub override_opts ($self) { return length $self->{override_opts} ? 0 + $self->{override_opts} : 255 }

sub add_config ( $self, $lines ) {
    require Cameleer::Sections;
    Cameleer::Sections::hand(@$lines);
    return;
}

1;

__END__

=head1 NAME

Apache2::CmdParms - the context of a Perl module's directive

=head1 SYNOPSIS

    sub MyDirective {
        my ( $self, $parms, $value ) = @_;
        if ( my $error = $parms->check_cmd_context(Apache2::Const::NOT_IN_LOCATION) ) { die $error }
        $self->{value} = $value;
    }

=head1 DESCRIPTION

C<add_config check_cmd_context cmd context directive info limited method_is_limited override override_opts path pool server temp_pool>, as in mod_perl 2.

=cut
