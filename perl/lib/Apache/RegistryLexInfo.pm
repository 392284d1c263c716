package Apache::RegistryLexInfo;

use v5.36;

use B                  ();
use Devel::Peek        ();
use Apache::Registry   ();
use Cameleer::Captured ();

# Runs the script as Apache::Registry does. Instead of its output, shows which of its lexical variables it
# changed.
sub handler {
    my $r = $_[-1];
    my $watched;
    my $status = Apache::Registry::serve( $r, sub (@what) { $watched = watch( Apache::Registry::cached(@what) ) } );
    return $status if !$watched;
    $r->send_http_header('text/plain');
    $r->print( 'Lexical variables of ' . $r->uri . " that this run changed\n\n" );
    $r->print( differences( $watched->{before}, $watched->{after} ) || "none\n" );
    return $status;
}

sub watch ($script) {
    return bless { script => $script, end_blocks => $script->{end_blocks} }, __PACKAGE__;
}

# Runs instead of the script's own `run`.
sub run ( $self, $r ) {
    $self->{before} = lexicals( $self->{script}{package} );
    open my $nowhere, '>', \my $printed or die "cannot open a file in memory: $!\n";
    my $client = select $nowhere;
    my $done   = eval { $self->{script}->run($r); 1 };
    my $error  = $@;
    select $client;
    die $error if !$done;
    $self->{after} = lexicals( $self->{script}{package} );
    return;
}

sub run_end_blocks ($self) { return $self->{script}->run_end_blocks }

# Dumps of all named variables in the subs of a package: { "sub $name" => [ lines ] }.
sub lexicals ($package) {
    no strict 'refs';
    my %dumps;
    for my $name ( grep { !/::\z/ && defined &{"${package}::$_"} } keys %{"${package}::"} ) {
        my $code = B::svref_2object( \&{"${package}::$name"} );
        next if !$code->isa('B::CV') || !$code->can('PADLIST') || $code->XSUB;
        my $sub = $name eq '__registry__' ? 'the script' : "sub $name";
        next if $name eq 'handler' && defined &{"${package}::__registry__"};
        for_each_lexical( $code, sub ( $variable, $value ) { $dumps{"$variable in $sub"} = dump_of($value) } );
    }
    return \%dumps;
}

# Calls `$do->($name, $value)` for each named variable of a sub (a B::CV).
sub for_each_lexical ( $code, $do ) {
    my ( $names, $values ) = $code->PADLIST->ARRAY;
    my @names  = $names->ARRAY;
    my @values = $values->ARRAY;
    for my $at ( grep { $names[$_]->can('PV') && defined $names[$_]->PV } 0 .. $#names ) {
        my $name = $names[$at]->PV;
        $do->( $name, $values[$at] ) if $name =~ /\A[\$\@%]\w/ && $values[$at]->can('object_2svref');
    }
    return;
}

sub dump_of ($value) {
    my $reference = $value->object_2svref;
    my $dump      = Cameleer::Captured::stderr_of( sub { Devel::Peek::Dump($reference) } );
    $dump =~ s/\A.*?^  RV = [^\n]*\n//sm;    # the line of the reference itself
    return [ map { s/\A  //r } split /\n/, $dump ];
}

sub differences ( $before, $after ) {
    my $text = '';
    for my $variable ( sort keys %$after ) {
        my ( $old, $new ) = map { $_->{$variable} // [] } $before, $after;
        next if "@$old" eq "@$new";
        my %had = map { $_ => 1 } @$old;
        my %has = map { $_ => 1 } @$new;
        $text .= join "\n", $variable, ( map { "- $_" } grep { !$has{$_} } @$old ),
          ( map { "+ $_" } grep { !$had{$_} } @$new ), "\n";
    }
    return $text;
}

1;

__END__

=head1 NAME

Apache::RegistryLexInfo - shows which lexical variables of a Registry script a run changes

=head1 SYNOPSIS

    Alias /lexinfo/ /srv/perl/
    <Location /lexinfo>
        SetHandler perl-script
        PerlHandler Apache::RegistryLexInfo
        Options +ExecCGI
    </Location>

=head1 DESCRIPTION

The script runs; its output is dropped. Its padlists, and those of its subs, are dumped with
L<Devel::Peek> before and after, and the client gets the lines that differ: C<-> before, C<+> after.
A variable that also appears after later runs is changed at every run, so its memory is not shared
between workers.

Output that the script sends through C<$r> itself is not dropped, and comes first.

=cut
