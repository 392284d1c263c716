# Reason phrases of statuses.

use v5.36;
use lib __FILE__ =~ s{t/Cameleer/Event/[^/]+\z}{lib}r;
use Test::More;

use Cameleer::Event::Status;

is Cameleer::Event::Status::reason(200), 'OK',        'a status of HTTP';
is Cameleer::Event::Status::reason(404), 'Not Found', 'another one';
is Cameleer::Event::Status::reason(299), 'Status',    'one that HTTP does not have';

done_testing;
