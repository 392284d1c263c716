# Apache::Status::Memory: lines of the memory page, where the options allow the page; run by packages.t

use v5.36;

return {
    pages_without_their_option_are_forbidden  => [ sub ($r) { require Apache::Status; join '', map { @{$_} } Apache::Status::Memory::page( $r, 'main' ), Apache::Status::Memory::all_packages( $r, undef ) }, qr/see StatusTerseSize\..*see StatusTerseSizeMainSummary\./ ],
    a_line_has_name_bytes_and_operators       => [ sub ($r) { Apache::Status::Memory::line( '<a>', { size => 7, count => 3 }, 5 ) }, "&lt;a&gt;       7 bytes |   3 OPs\n" ],
    longest_is_the_length_of_the_longest_name => [ sub ($r) { Apache::Status::Memory::longest(qw(a ccc bb)) . Apache::Status::Memory::longest() }, '30' ],
};
