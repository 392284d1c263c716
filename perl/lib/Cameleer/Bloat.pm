package Cameleer::Bloat;

# No pragma and no lexical variable precedes this eval: the expression would see it.
sub evaluate { package main; eval $_[0] }    ## no critic: evaluating is what was asked for

use v5.36;

use B        ();
use JSON::PP ();

# Variables that slow down every match in perl before 5.20.
my %MATCH = map { $_ => 1 } '&', '`', q{'};

my %before;

# Records the loaded modules; the modules that `found` needs are loaded by now.
sub begin ($) {
    %before = map { $_ => 1 } keys %INC;
    return '';
}

# Evaluates the expression; returns perl's error message.
sub run ($expression) {
    evaluate(qq{#line 1 "(expression)"\n$expression});
    return "$@";
}

# Returns the newly loaded modules and the uses of match variables, as JSON.
sub found ($) {
    my @modules = sort grep { !$before{$_} && defined $INC{$_} && !ref $INC{$_} } keys %INC;
    return JSON::PP->new->ascii->canonical->encode( { modules => \@modules, match_variables => [ match_variables() ] } );
}

sub match_variables {
    my ( %seen, @places );
    walk_package( \%main::, {}, \@places );
    my @in_subs = grep { !$seen{ key($_) }++ } sort { $a->{file} cmp $b->{file} || $a->{line} <=> $b->{line} } @places;
    return ( ( grep { !is_among( $_, \%seen ) } first_named() ), @in_subs );
}

sub key ( $place, $above = 0 ) {
    return "$place->{variable} $place->{file} " . ( ( $place->{line} // 0 ) - $above );
}

# perl attributes a name at the end of a line to the next line if it has begun to read that.
sub is_among ( $place, $seen ) {
    return $seen->{ key($place) } || $seen->{ key( $place, 1 ) };
}

# File and line where perl first compiled each name of %MATCH. Its glob stores them, also after the code of a loaded
# file has been freed.
sub first_named {
    my @names = grep { ref \$main::{$_} eq 'GLOB' } sort keys %MATCH;
    return map { first_place( $_, B::svref_2object( \$main::{$_} ) ) } @names;
}

# English uses the variables in a string eval.
sub first_place ( $name, $glob ) {
    return place( $name, $INC{'English.pm'}, undef ) if $INC{'English.pm'} && $glob->FILE =~ /\A\(eval /;
    return place( $name, $glob->FILE, $glob->LINE );
}

sub place ( $name, $file, $line ) {
    return { variable => "\$$name", file => $file, line => $line };
}

# Subs that still exist have operators that can be searched.
sub walk_package ( $table, $walked, $places ) {
    return if $walked->{ 0 + $table }++;
    for my $name ( sort keys %$table ) {
        my $glob = \$table->{$name};
        next if ref $glob ne 'GLOB';
        walk_package( *{$glob}{HASH}, $walked, $places ) if $name =~ /::\z/ && *{$glob}{HASH};
        my $code = *{$glob}{CODE} // next;
        walk_sub( B::svref_2object($code), $walked, $places );
    }
    return;
}

sub walk_sub ( $cv, $walked, $places ) {
    return if $walked->{$$cv}++ || $cv->XSUB || !${ $cv->ROOT };
    my @pad = ( $cv->PADLIST->ARRAY )[1]->ARRAY;
    my $at  = $cv->START;
    walk( $cv->ROOT, \@pad, \$at, $places );
    walk_sub( $_, $walked, $places ) for grep { $_->isa('B::CV') && $_->CvFLAGS & B::CVf_ANON } @pad;
    return;
}

# Walks in the order of the text: `$at` is the current statement.
sub walk ( $root, $pad, $at, $places ) {
    my @open = ($root);
    while ( defined( my $op = pop @open ) ) {
        $$at = $op if $op->isa('B::COP');
        my $name = variable( $op, $pad );
        push @$places, place( $name, $$at->file, $$at->line ) if defined $name && $$at->isa('B::COP');
        push @open, reverse kids($op);
    }
    return;
}

sub kids ($op) {
    return unless $op->flags & B::OPf_KIDS;
    my @kids;
    for ( my $kid = $op->first ; $$kid ; $kid = $kid->sibling ) { push @kids, $kid }
    return @kids;
}

# A perl with threads keeps the globs of operators in the pad.
sub variable ( $op, $pad ) {
    return unless $op->name =~ /\Agv(?:sv)?\z/;
    my $glob = $op->isa('B::PADOP') ? $pad->[ $op->padix ] : $op->gv;
    return unless ref $glob && $glob->isa('B::GV') && $MATCH{ $glob->NAME };
    return $glob->STASH->isa('B::HV') && $glob->STASH->NAME eq 'main' ? $glob->NAME : undef;
}

1;

__END__

=head1 NAME

Cameleer::Bloat - the Perl half of cameleer bloat

=head1 SYNOPSIS

    Cameleer::Bloat::begin('');
    my $error = Cameleer::Bloat::run('use CGI');
    my $json  = Cameleer::Bloat::found('');
    # {"match_variables":[{"file":"/srv/lib/Old.pm","line":7,"variable":"$&"}],"modules":["CGI.pm",...]}

=head1 DESCRIPTION

C<match_variables> has the place where perl first met each of C<$&>, C<$`> and C<$'>, and all uses
in subs. A later use in code that ran while a file was loaded is not found: perl has freed that
code. English, which gives the variables other names, is listed without a line; code that uses these
other names is not found.

=cut
