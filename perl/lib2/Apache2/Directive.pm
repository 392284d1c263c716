package Apache2::Directive;

use v5.36;

use Cameleer::ModPerl2 ();

# The configuration as a tree: { directive, args, filename, line_num, children }. The server passes it as text
# on first use.
my $tree;

sub conftree { return $tree //= _read( Cameleer::ModPerl2::configuration() ) }

# A directive that is being read, with the inner lines of a container; the parent is not known yet.
sub of_line ( $file, $line, @lines ) {
    my ( $depth, @rows ) = (0);
    while (@lines) {
        my $text = shift @lines;
        while ( @lines && $text =~ s/\\\z// ) { $text .= shift(@lines) =~ s/\A\s+//r; $line++ }
        if ( $text =~ m{\A\s*</} ) { $depth-- if $depth > 1 }
        elsif ( my ( $name, $args ) = $text =~ /\A\s*(<[^\s>]+|[^\s#<]\S*)\s*(.*?)\s*\z/s ) {
            push @rows, join "\0", $depth, $line, $file, $name, $args;
            $depth++ if $name =~ /\A</;
        }
        $line++;
    }
    return _read( join "\n", @rows );
}

# Parses lines of depth, line, file, name and arguments, separated by NULs.
sub _read ($text) {
    my @parents = ( { children => [] } );
    for my $row ( split /\n/, $text ) {
        my ( $depth, $line, $file, $name, $args ) = split /\0/, $row, 5;
        my $node = bless { directive => $name, args => $args, filename => $file, line_num => $line, children => [] }, __PACKAGE__;
        $#parents = $depth;
        my $siblings = $parents[$depth]{children};
        $siblings->[-1]{next} = $node if @$siblings;
        $node->{parent} = $parents[$depth] if $depth;
        push @$siblings, $node;
        push @parents,   $node;
    }
    my $first = $parents[0]{children}[0];
    $first->{siblings} = $parents[0]{children} if $first;
    return $first;
}

sub directive   ($self) { return $self->{directive} }
sub args        ($self) { return $self->{args} }
sub filename    ($self) { return $self->{filename} }
sub line_num    ($self) { return $self->{line_num} }
sub next        ($self) { return $self->{next} }                 ## no critic: the name is the API's
sub parent      ($self) { return $self->{parent} }
sub first_child ($self) { return $self->{children}[0] }

# The inner lines of a container.
sub as_string ($self) {
    return join '', map { $_->_line } @{ $self->{children} };
}

sub _line ($self) {
    return join( ' ', grep { length } $self->{directive}, $self->{args} ) . "\n" unless $self->_is_section;
    my $name = $self->{directive} =~ s/\A<//r;
    return "$self->{directive} $self->{args}\n" . $self->as_string . "</$name>\n";
}

sub _is_section ($self) { return $self->{directive} =~ /\A</ }

# Names and values from this node on; a repeated name has a list of values.
sub as_hash ($self) {
    my %hash;
    for ( my $node = $self; $node; $node = $node->next ) {
        my $name = $node->{directive} =~ s/\A<//r;
        if ( $node->_is_section ) {
            my $key = $node->{args} =~ s/>\z//r;
            my $inside = $node->first_child ? $node->first_child->as_hash : {};
            _put( $hash{$name} //= {}, $key, $inside );
        }
        else { _put( \%hash, $name, $node->{args} ) }
    }
    return \%hash;
}

sub _put ( $hash, $name, $value ) {
    my $known = $hash->{$name};
    $hash->{$name} = !defined $known ? $value : ref $known eq 'ARRAY' ? [ @$known, $value ] : [ $known, $value ];
    return;
}

# The value of the named directive: the last one, or all in list context; for a section, a hash of its lines.
sub lookup ( $self, $name, @args ) {
    my @found;
    for ( my $node = $self; $node; $node = $node->next ) {
        next if lc( $node->{directive} =~ s/\A<//r ) ne lc $name;
        next if @args && ( $node->{args} =~ s/>\z//r ) ne $args[0];
        push @found, $node->_is_section ? ( $node->first_child ? $node->first_child->as_hash : {} ) : $node->{args};
    }
    return wantarray ? @found : $found[0];
}

1;

__END__

=head1 NAME

Apache2::Directive - the configuration as a tree

=head1 SYNOPSIS

    use Apache2::Directive ();

    my $tree = Apache2::Directive::conftree();
    my $root = $tree->lookup('DocumentRoot');
    for ( my $node = $tree; $node; $node = $node->next ) {
        print $node->directive, ' ', $node->args, ' (', $node->filename, ':', $node->line_num, ")\n";
    }

=head1 DESCRIPTION

C<args as_hash as_string conftree directive filename first_child line_num lookup next parent>, as in mod_perl 2.

=cut
