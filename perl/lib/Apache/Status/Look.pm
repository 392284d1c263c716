package Apache::Status::Look;

use v5.36;

use Cameleer::Captured ();
use Cameleer::HTML     qw(escape);

# The views of a variable or sub: [name in the link, option that allows it, kinds, title, code that returns the
# text]. The place of a sub needs no option.
my @WAYS = (
    [ dumper     => 'StatusDumper',    qr/SCALAR|ARRAY|HASH/, 'Data Dumper', \&dumper ],
    [ peek       => 'StatusPeek',      qr/./,                 'Devel::Peek', \&peek ],
    [ deparse    => 'StatusDeparse',   qr/CODE/,              'Deparse',     \&deparse ],
    [ terse      => 'StatusTerse',     qr/CODE/,              'Syntax Tree', \&terse ],
    [ terse_size => 'StatusTerseSize', qr/CODE/,              'Sizes',       \&terse_size ],
    [ lexinfo    => 'StatusLexInfo',   qr/CODE/,              'Lexicals',    \&lexinfo ],
    [ info       => '',                qr/CODE/,              'Subroutine',  \&info ],
);

# The names of the views that are allowed.
sub ways ( $r, $kind ) {
    return map { $_->[0] } allowed( $r, $kind );
}

sub allowed ( $r, $kind ) {
    return grep {
             $kind =~ $_->[2]
          && ( $_->[1] eq '' || Apache::Status::is_on( $r, $_->[1] ) )
          && ( $_->[0] ne 'terse_size' || $INC{'B/TerseSize.pm'} )
    } @WAYS;
}

sub page ( $r, $name, $kind, $how ) {
    return [ '<p>' . escape($how) . ' is not a view of this page.</p>' ] if !grep { $_->[0] eq $how } @WAYS;
    my @allowed = allowed( $r, $kind );
    my ($way) = grep { $_->[0] eq $how } @allowed;
    return ['<p>Not allowed here; see StatusOptionsAll.</p>'] if !$way;
    my $value = lookup( $name, $kind ) // return [ '<p>There is no ' . escape("$kind $name") . '.</p>' ];
    my $here  = Apache::Status::base($r) . '/' . escape($name) . "/$kind";
    my @links = map { qq{<a href="$here?$_->[0]">} . escape( $_->[3] ) . '</a> ' } @allowed;
    return [ '<h2>' . escape("$name $kind") . "</h2>\n",
        @links, "\n<pre>", escape( $way->[4]->( $value, $r ) ), "</pre>\n" ];
}

# Returns a reference; undef if the symbol does not exist. Creates no symbol.
sub lookup ( $name, $kind ) {
    my ( $package, $last ) = $name =~ /\A(?:(.*)::)?(\w+)\z/s;
    $package //= 'main';
    return if !Apache::Status::Package::exists_package($package);
    no strict 'refs';
    return                                                                 if !exists ${"${package}::"}{$last};
    return exists &{"${package}::$last"} ? \&{"${package}::$last"} : undef if $kind eq 'CODE';
    my $glob = \${"${package}::"}{$last};
    return ref $glob eq 'GLOB' ? *{$glob}{$kind} : undef;
}

sub dumper ( $value, $r ) {
    require Data::Dumper;
    local ( $Data::Dumper::Terse, $Data::Dumper::Indent, $Data::Dumper::Sortkeys ) = ( 1, 1, 1 );
    return Data::Dumper::Dumper($value);
}

sub peek ( $value, $r ) {
    require Devel::Peek;
    return Cameleer::Captured::stderr_of( sub { Devel::Peek::Dump($value) } );
}

sub deparse ( $code, $r ) {
    require B::Deparse;
    return B::Deparse->new( split ' ', $r->dir_config('StatusDeparseOptions') // '' )->coderef2text($code);
}

sub terse ( $code, $r ) {
    require B::Concise;
    B::Concise::reset_sequence();
    B::Concise::walk_output( \my $text );
    B::Concise::compile( '-terse', $code )->();
    return $text // '';
}

sub terse_size ( $code, $r ) {
    my $text = '';
    my ( $count, $size ) = B::TerseSize::CV_walk( $code,
        sub ( $op, $level, $bytes ) { $text .= '  ' x $level . $op->name . " [$bytes]\n" } );
    return "$size bytes | $count OPs\n\n$text";
}

sub info ( $code, $r ) {
    require B;
    my $cv    = B::svref_2object($code);
    my $start = $cv->START;
    my $line  = $start->can('line') ? $start->line : $cv->GV->LINE;
    my %facts = (
        File      => $cv->FILE // '',
        Package   => $cv->GV->STASH->NAME,
        Line      => $line,
        Prototype => prototype($code) // 'none',
        XSUB      => $cv->XSUB ? 'yes' : 'no',
    );
    return join '', map { "$_: $facts{$_}\n" } qw(File Package Line Prototype XSUB);
}

sub lexinfo ( $code, $r ) {
    require Apache::RegistryLexInfo;
    my @lines;
    Apache::RegistryLexInfo::for_each_lexical(
        B::svref_2object($code),
        sub ( $name, $value ) {
            push @lines, $name, map { "  $_" } @{ Apache::RegistryLexInfo::dump_of($value) };
        }
    );
    return join '', map { "$_\n" } @lines;
}

1;

__END__

=head1 NAME

Apache::Status::Look - views of one variable or sub, for Apache::Status

=head1 SYNOPSIS

    my $html = Apache::Status::Look::page( $r, 'My::Module::work', 'CODE', 'deparse' );

=cut
