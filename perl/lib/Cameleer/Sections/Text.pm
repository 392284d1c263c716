package Cameleer::Sections::Text;

use v5.36;

# Converts a package's variables to lines of configuration. %$known has the directives: spelling of the name,
# kind ("section" or "line"), least and most arguments (-1: any number).

# Directives that others depend on come first; sections, which are merged in order, come last. Otherwise the
# order is by name, so that every reading is the same.
my %EARLY = ( ServerRoot => -4, PerlLib => -3, PerlModule => -2, PerlRequire => -2, PerlScript => -2 );
my %LATE  = ( PerlAddVar => 0.5, Directory => 1, DirectoryMatch => 2, Files => 3, FilesMatch => 4, Location => 5, LocationMatch => 6, VirtualHost => 7 );

# Arguments that httpd 1.3 takes from a list for one line, where this server would accept fewer.
my %LEAST = ( Redirect => 2, RedirectMatch => 2 );

sub of ( $package, $known ) {
    no strict 'refs';
    my $stash = \%{"${package}::"};
    my @names = grep { !/::\z/ && ref \$stash->{$_} eq 'GLOB' } keys %$stash;
    my $text  = join '', map { raw( *{ $stash->{$_} } ) } grep { $_ eq 'PerlConfig' } @names;
    for my $name ( in_order( grep { $_ ne 'PerlConfig' } @names ) ) {
        $text .= variable( $name, *{ $stash->{$name} }, $known );
    }
    return $text;
}

sub in_order (@names) {
    my $turn = sub ($name) { $EARLY{$name} // $LATE{$name} // 0 };
    return sort { $turn->($a) <=> $turn->($b) || $a cmp $b } @names;
}

# $PerlConfig and @PerlConfig are literal lines.
sub raw ($glob) {
    return join '', map { /\n\z/ ? $_ : "$_\n" } grep { defined } ${ *$glob{SCALAR} }, @{ *$glob{ARRAY} // [] };
}

sub variable ( $name, $glob, $known ) {
    my ( $scalar, $array, $hash ) = ( ${ *$glob{SCALAR} }, *$glob{ARRAY}, *$glob{HASH} );
    my $is_said = defined $scalar || ( $array && @$array ) || ( $hash && %$hash );
    return '' unless $is_said;
    my $row = $known->{ lc $name } // return unknown( $name, $scalar );
    my $text = '';
    $text .= line( $row, $scalar ) if defined $scalar;
    $text .= list( $row, $array, $LEAST{ $row->{name} } // $row->{least} ) if $array;
    $text .= sections( $row, $hash, $known ) if $hash && %$hash;
    return $text;
}

# mod_perl 1 ignores unknown names silently unless StrictPerlSections is set; then the configuration's parser
# reports the error.
sub unknown ( $name, $scalar ) {
    return "$name " . ( $scalar // '' ) . "\n" if $Apache::Server::StrictPerlSections;
    warn "<Perl>: $name is no directive and is ignored; \$Apache::Server::StrictPerlSections = 1 makes it an error\n"
        if $name =~ /\A[A-Z]+[a-z]/;
    return '';
}

# A string is the rest of a directive's line.
sub line ( $row, $value ) {
    return words( $row, $value )                if ref $value eq 'CODE';
    return words( $row, $value )                if $value =~ /\A\s*sub\b/ && $row->{name} =~ /Handler\z/;
    return "$row->{name} " . one_line($value) . "\n";
}

sub one_line ($text) { return $text =~ s/\s*\n\s*/ /gr }

# Nested lists are lines of their own. Other elements are grouped into lines of $take each: as many as the
# directive requires, or all.
sub list ( $row, $values, $take ) {
    my $any   = $row->{most} != $take || $take == 0;
    my @plain = grep { ref ne 'ARRAY' } @$values;
    my $text  = join '', map { words( $row, @$_ ) } grep { ref eq 'ARRAY' } @$values;
    $take = @plain if $row->{most} == -1 && $take < 2;
    return $text . line( $row, $plain[0] ) if @plain == 1;
    while ( my @some = splice @plain, 0, $take || 1 ) {
        $text .= words( $row, @some );
    }
    return $text;
}

sub words ( $row, @values ) {
    return join( ' ', $row->{name}, map { word( ref $_ eq 'CODE' ? code_name($_) : $_ ) } @values ) . "\n";
}

sub word ($value) {
    $value = one_line( $value // '' );
    return $value if $value =~ /\A(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\z/;    # quoted by the program
    return $value if $value =~ m{\A[\w./:*+,=@%~-]+\z};
    return '"' . $value =~ s/(["\\])/\\$1/gr . '"';
}

# { '/path' => {...}, '/other' => [ {...}, {...} ] }
sub sections ( $row, $hash, $known ) {
    $row->{kind} eq 'section' or die "\%$row->{name}: $row->{name} is not a section; use \$$row->{name} or \@$row->{name}\n";
    my $text = '';
    for my $key ( keys_of($hash) ) {
        my $value = $hash->{$key};
        $text .= section( $row, $key, $_, $known ) for ref $value eq 'ARRAY' ? @$value : $value;
    }
    return $text;
}

sub section ( $row, $key, $inside, $known ) {
    $inside = named_hash($inside) unless ref $inside;
    ref $inside eq 'HASH' or die "\$$row->{name}\{'$key'}: expected a hash of directives\n";
    return "<$row->{name} " . argument($key) . ">\n" . inside( $inside, $known ) . "</$row->{name}>\n";
}

# In mod_perl 2 a string is the name of a hash, in the section's package or in main.
sub named_hash ($name) {
    my $package = $Cameleer::Sections::PACKAGE;
    return $name unless defined $package && $name =~ /\A\w+(?:::\w+)*\z/;
    no strict 'refs';
    return \%{ %{"${package}::$name"} ? "${package}::$name" : "main::$name" };
}

# `~ regex` and lists of addresses are several words.
sub argument ($key) {
    return $key =~ m{\A/[^"]*\s} ? word($key) : $key;
}

sub inside ( $hash, $known ) {
    my $text = '';
    for my $name ( tied %$hash ? keys %$hash : in_order( keys %$hash ) ) {
        my $value = $hash->{$name} // next;
        if ( $name eq 'PerlConfig' ) { $text .= one( { name => '' }, $value ); next }
        $text .= one( $known->{ lc $name } // { name => $name, least => 0, most => -1, kind => 'any' }, $value, $known );
    }
    return $text;
}

sub one ( $row, $value, $known = {} ) {
    return raw_lines($value) if $row->{name} eq '';
    if ( ref $value eq 'HASH' ) {
        return sections( $row, $value, $known ) unless exists $value->{METHODS};
        my %rest = %$value;
        return section( $row, delete $rest{METHODS}, \%rest, $known );
    }
    return line( $row, $value ) unless ref $value eq 'ARRAY';
    my @hashes = grep { ref eq 'HASH' } @$value;
    return join '', map { one( $row, $_, $known ) } @hashes if @hashes;
    # In a section a list is one line.
    return list( $row, $value, scalar @$value );
}

sub raw_lines ($value) { return join '', map { /\n\z/ ? $_ : "$_\n" } ref $value ? @$value : $value }

# A tied hash determines its own order.
sub keys_of ($hash) { return tied %$hash ? keys %$hash : sort keys %$hash }

my $anonymous = 0;

# Handlers are passed by name: an anonymous sub gets the next number, the same in every reading.
sub code_name ($code) {
    require Sub::Util;
    my $name = Sub::Util::subname($code);
    no strict 'refs';
    return $name if $name !~ /::__ANON__\z/ && defined &$name && \&$name == $code;
    $name = ( defined $Cameleer::Sections::PACKAGE ? 'Apache2' : 'Apache' ) . '::ReadConfig::anonymous_' . ++$anonymous;
    *$name = $code;
    return $name;
}

1;

__END__

=head1 NAME

Cameleer::Sections::Text - a package's variables as configuration text

=head1 DESCRIPTION

L<Cameleer::Sections> uses this module. L<Apache::ReadConfig> documents the rules.

=cut
