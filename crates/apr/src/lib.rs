//! `APR::*`, the Perl modules over the Apache Portable Runtime: no Rust, but the build script that makes a shared object of
//! perl/lib/APR.xs and perl/lib/APR/. Perl loads it when a program says `use APR`; the server is not linked with it, nor with
//! libapr.
