# APR::Brigade: reads, splits, joins and walks a list of buckets; run by packages.t

use v5.36;

sub My::Brigades::of (@texts) {
    require "APR/$_.pm" for qw(Pool BucketAlloc Bucket);
    my $pool    = APR::Pool->new;
    my $brigade = APR::Brigade->new( $pool, APR::BucketAlloc->new($pool) );
    $brigade->insert_tail( APR::Bucket->new( $brigade->bucket_alloc, "$_" ) ) for @texts;
    return $brigade;
}

sub My::Brigades::text ($brigade) { $brigade->flatten( my $text ); return $text }

return {
    flatten_reads_all_buckets        => [ sub ($r) { my $b = My::Brigades::of( 'a ', 'text' ); $b->length . My::Brigades::text($b) }, '6a text' ],
    flatten_stops_at_a_length        => [ sub ($r) { my $n = My::Brigades::of( 'a ', 'text' )->flatten( my $text, 3 ); "$n $text" }, '3 a t' ],
    split_cuts_before_a_bucket       => [ sub ($r) { my $b = My::Brigades::of(qw(a b c)); my $tail = $b->split( $b->last ); My::Brigades::text($b) . '|' . My::Brigades::text($tail) }, 'ab|c' ],
    concat_appends_the_other_brigade => [ sub ($r) { my ( $b, $tail ) = ( My::Brigades::of('a'), undef ); $tail = $b->split( $b->first ); $tail->concat($b); My::Brigades::text($tail) }, 'a' ],
    next_visits_each_bucket          => [ sub ($r) { my $b = My::Brigades::of(qw(a bb ccc)); my $s = ''; for ( my $x = $b->first ; $x ; $x = $b->next($x) ) { $s .= $x->length } $s }, '123' ],
    an_empty_brigade_has_no_ends     => [ sub ($r) { my $b = My::Brigades::of(); join '|', map { $b->$_ // 'undef' } qw(first last length) }, 'undef|undef|0' ],
    leaks_nothing                    => [ sub ($r) { TestServer::growth( sub { My::Brigades::text( My::Brigades::of(qw(a b c)) ) } ) }, 'steady' ],
};
