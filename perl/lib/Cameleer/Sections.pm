package Cameleer::Sections;

use v5.36;

use Cameleer::Sections::Text ();

# Lines passed to Apache->httpd_conf that the server has not read yet.
my @HANDED;

# The known directives, by name in lower case; see Cameleer::Sections::Text.
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

# In mod_perl 2: the package of the current section, the number of its server, and the packages of earlier
# sections.
our ( $PACKAGE, $HOST, @SAVED );

# Begins a section of mod_perl 2; returns the package for its code, made from file and line.
sub package_of ($place) {
    ( $HOST, my $line, my $file ) = split /\0/, $place, 3;
    $PACKAGE = join '::', 'Apache2::ReadConfig', ( map { s/\W/_/gr } grep { length } split m{/}, $file ), "line_$line";
    require Apache2::PerlSections;
    forget($PACKAGE);    # a file may be included twice
    return $PACKAGE;
}

# The configuration of the section that has just run: its package's variables as text. Empties the package.
sub directives ($) {
    return directives_2() if defined $PACKAGE;
    my $text = handed() . Cameleer::Sections::Text::of( 'Apache::ReadConfig', \%DIRECTIVES );
    forget('Apache::ReadConfig') unless $Apache::Server::SaveConfig;
    return $text;
}

# mod_perl 2 also reads Apache2::ReadConfig, the package that all sections share. It is always emptied, because
# otherwise the next section would add its directives again.
sub directives_2 () {
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
        or die 'Apache->httpd_conf, $s->add_config: nothing can be added to the configuration after server startup; call it in a <Perl> section, '
        . "or in what PerlRequire loads when the file has one, perhaps an empty one\n";
    push @HANDED, map { /\n\z/ ? $_ : "$_\n" } @lines;
    return;
}

sub handed {
    return join '', splice @HANDED;
}

# Removes the variables of a package; its subs remain. The variables are replaced, not emptied, because subs of the
# section use those with which they were compiled.
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

Cameleer::Sections - configuration made by Perl code

=head1 DESCRIPTION

The server calls this module, not applications: see L<Apache::ReadConfig>.

=cut
