package APR::Request::Store;

use v5.36;

# Fields in the order of arrival, found by case-insensitive names.

# Maximum number of fields: a field costs far more memory than its bytes on the wire.
use constant MAX_FIELDS => 10_000;

sub new ($class) { return bless { all => [], named => {} }, $class }

# A store with the fields of several stores.
sub joined ( $class, @stores ) {
    my $self = $class->new;
    $self->add($_) for map { $_->all } @stores;
    return $self;
}

sub add ( $self, $field ) {
    push @{ $self->{all} }, $field;
    push @{ $self->{named}{ key( $field->{name} ) } }, $field;
    return;
}

# The lookup key of a name. Names in requests are bytes, where only ASCII letters have a case; a program's names
# may be characters.
sub key ($name) {
    utf8::encode($name) if utf8::is_utf8($name);
    return $name =~ tr/A-Z/a-z/r;
}

sub is_full ($self)         { return @{ $self->{all} } >= MAX_FIELDS }
sub all     ($self)         { return @{ $self->{all} } }
sub named   ( $self, $name ) { return @{ $self->{named}{ key($name) } // [] } }
sub first   ( $self, $name ) { return ( $self->{named}{ key($name) } // return )->[0] }

# A hash tied to an object of the class, and blessed into it.
sub table ( $self, $class ) {
    tie( my %table, $class, $self );
    return bless \%table, $class;
}

package APR::Request::Table;

use APR::Table   ();
use Scalar::Util ();

# Base class of tables of parameters and cookies, which are read-only.

sub TIEHASH ( $class, $store ) { return bless { store => $store, at => 0 }, $class }

# The object behind the tied hash.
sub _inner ($self) { return tied(%$self) // $self }

sub get { return FETCH(@_) }

# In list context all values; in scalar context the first one, or, during each(), keys or values, that of the
# current entry.
sub FETCH {
    my $inner = _inner( $_[0] );
    my $class = $inner->{class};
    return map { $_->as($class) } $inner->{store}->named( $_[1] ) if wantarray;
    my $place = APR::Table::_place( $_[1] ) || $inner->{at};
    my $found = $place ? $inner->{store}{all}[ $place - 1 ] : undef;
    $found = $inner->{store}->first( $_[1] ) if !$found || APR::Request::Store::key( $found->{name} ) ne APR::Request::Store::key( $_[1] );
    return $found ? $found->as($class) : undef;
}

sub EXISTS ( $self, $name ) { return defined _inner($self)->{store}->first($name) }
sub SCALAR ($self)          { return scalar @{ _inner($self)->{store}{all} } }

sub FIRSTKEY ($self) {
    _inner($self)->{at} = 0;
    return NEXTKEY($self);
}

sub NEXTKEY ( $self, @ ) {
    my $inner = _inner($self);
    my $field = $inner->{store}{all}[ $inner->{at} ];
    $inner->{at} = $field ? $inner->{at} + 1 : 0;
    return $field ? APR::Table::_key( $field->{name}, $inner->{at} - 1 ) : undef;
}

for my $verb (qw(STORE DELETE CLEAR)) {
    no strict 'refs';
    *$verb = sub { require Carp; Carp::croak('the input of a request is read-only; make a copy of this table') };
}

# Calls code for each field, or for those with given names, until the code returns false.
sub do {    ## no critic: the name is the API's
    my ( $self, $code, @names ) = @_;
    ref $code or _usage('$table->do(\&code, @names)');
    my $inner = _inner($self);
    my %wanted = map { ( APR::Request::Store::key($_) => 1 ) } @names;
    for my $field ( $inner->{store}->all ) {
        next if @names && !$wanted{ APR::Request::Store::key( $field->{name} ) };
        $code->( $field->{name}, scalar $field->as( $inner->{class} ) ) or return 0;
    }
    return 1;
}

# Gets or sets the class of the values; undef for plain texts. Setting returns the table.
sub _class_of_values ( $self, $base, @new ) {
    my $inner = _inner($self);
    return $inner->{class} if !@new;
    my $class = $new[0];
    !defined $class || $class->isa($base) or _usage("\$table->..._class(\$class): $class is no $base");
    $inner->{class} = $class;
    return $self;
}

sub _usage ($text) { require Carp; Carp::croak("Usage: $text") }

1;

__END__

=head1 NAME

APR::Request::Store - the fields of a form or a header, and tables of them

=head1 SYNOPSIS

    my $table = $req->body;
    my $first = $table->{name};              # or $table->get('name')
    my @all   = $table->get('name');
    while ( my ( $name, $value ) = each %$table ) { ... }
    $table->do( sub ( $name, $value ) { print "$name: $value\n"; 1 }, 'name' );

    $table->param_class('APR::Request::Param');     # values become objects

=head1 DESCRIPTION

APR::Request::Param::Table and APR::Request::Cookie::Table (with C<cookie_class>) are such tables.
Names ignore case. C<keys> and C<values> return every field, in order. C<do> stops when the code
returns false.

=cut
