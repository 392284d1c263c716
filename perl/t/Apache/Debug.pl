# Apache::Debug: the page of dump, and the effect of its import; run by packages.t

use v5.36;

return {
    dump_prints_its_words_escaped              => [ sub ($r) { $r->dump( 200, 'because <b>', 'and' ) ? 'not OK' : '' }, qr{<pre>because &lt;b&gt;</pre>\n<pre>and</pre>} ],
    dump_prints_the_query                      => [ sub ($r) { $r->dump(200); '' },                                      qr{<td>args</td><td>a=1&amp;b=2</td>} ],
    dump_prints_undef_as_nothing               => [ sub ($r) { $r->dump( 200, undef ); '' },                             qr{<pre></pre>} ],
    level_2_sets_a_die_handler                 => [
        sub ($r) {
            local ( $SIG{__DIE__}, $Apache::Debug::Level, $Apache::Registry::Debug );
            Apache::Debug->import( level => 2 );
            join '|', $Apache::Debug::Level, $Apache::Registry::Debug, ref $SIG{__DIE__};
        },
        '2|2|CODE',
    ],
    import_without_a_level_sets_no_die_handler => [ sub ($r) { local $SIG{__DIE__}; Apache::Debug->import; defined $SIG{__DIE__} ? 'set' : 'unset' }, 'unset' ],
};
