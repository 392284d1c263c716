# APR::Status: tests of error numbers and error objects; run by packages.t

use v5.36;
use Errno ();

return {
    each_test_knows_its_number              => [ sub ($r) { join '', map { APR::Status->can("is_$_->[0]")->( $_->[1] ) ? 1 : 0 } [ EACCES => Errno::EACCES() ], [ EAGAIN => Errno::EAGAIN() ], [ ENOENT => Errno::ENOENT() ], [ EACCES => 0 ], [ ENOENT => Errno::EACCES() ] }, '11100' ],
    an_error_object_is_tested_by_its_number => [ sub ($r) { require APR::Error; APR::Status::is_ENOENT( APR::Error->new( rc => Errno::ENOENT(), func => 'f', file => 'x', line => 1 ) ) ? 'none' : 'other' }, 'none' ],
};
