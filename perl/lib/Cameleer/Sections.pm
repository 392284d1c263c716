package Cameleer::Sections;

use v5.36;

use Cameleer::Sections::Text ();

# Lines that Apache->httpd_conf was given and nobody has read yet.
my @HANDED;

# What the configuration may say, by name in lower case; see Cameleer::Sections::Text.
our %DIRECTIVES;

# See Cameleer::configuration_is.
our $STATE = '';

sub begin ($directives) {
    return if %DIRECTIVES;
    for my $line ( split /\n/, $directives ) {
        my ( $name, $kind, $least, $most ) = split / /, $line;
        $DIRECTIVES{ lc $name } = { name => $name, kind => $kind, least => $least, most => $most };
    }
    return;
}

# mod_perl 2: the package of the section at work, the number of the server that it stands in, the packages that sections have left.
our ( $PACKAGE, $HOST, @SAVED );

# A section of mod_perl 2 begins: the package for its code, made from file and line.
sub package_of ($place) {
    ( $HOST, my $line, my $file ) = split /\0/, $place, 3;
    $PACKAGE = join '::', 'Apache2::ReadConfig', ( map { s/\W/_/gr } grep { length } split m{/}, $file ), "line_$line";
    require Apache2::PerlSections;
    forget($PACKAGE);    # a file that is included twice
    return $PACKAGE;
}

# What the section that has just run says: the variables of its package, as text. The package is empty afterwards.
sub said ($) {
    return said_2() if defined $PACKAGE;
    my $text = handed() . Cameleer::Sections::Text::of( 'Apache::ReadConfig', \%DIRECTIVES );
    forget('Apache::ReadConfig') unless $Apache::Server::SaveConfig;
    return $text;
}

# The package that all sections share is an older way to say it, and is always emptied: it would be said again.
sub said_2 () {
    my $text = handed() . join '', map { Cameleer::Sections::Text::of( $_, \%DIRECTIVES ) } 'Apache2::ReadConfig', $PACKAGE;
    forget('Apache2::ReadConfig');
    @SAVED = grep { $_ ne $PACKAGE } @SAVED;
    if   ($Apache2::PerlSections::Save) { push @SAVED, $PACKAGE }
    else                                { forget($PACKAGE) }
    ( $PACKAGE, $HOST ) = ();
    return $text;
}

sub hand (@lines) {
    return if $STATE eq 'known';
    $STATE eq 'read'
        or die 'Apache->httpd_conf, $s->add_config: nothing can be added to the configuration after server startup: call it in a <Perl> section, '
        . "or in what PerlRequire loads when the file has one, perhaps an empty one\n";
    push @HANDED, map { /\n\z/ ? $_ : "$_\n" } @lines;
    return;
}

sub handed {
    return join '', splice @HANDED;
}

# New variables instead of empty ones: subs of the section keep those that they were compiled with. The subs stay.
sub forget ($package) {
    no strict 'refs';
    my $stash = \%{"${package}::"};
    for my $name ( grep { !/::\z/ } keys %$stash ) {
        my $code = ref \$stash->{$name} eq 'GLOB' ? *{ $stash->{$name} }{CODE} : next;
        delete $stash->{$name};
        *{"${package}::$name"} = $code if $code;
    }
    return;
}

1;

__END__

=head1 NAME

Cameleer::Sections - what Perl code says as configuration

=head1 DESCRIPTION

Called by the server, not by applications: see L<Apache::ReadConfig>.

=cut
