//! Files and folders that the front sends itself.

/// Files whose names are not in memory.
mod aside;
/// Lists of folders, their slashes, entity tags.
mod folders;
/// What httpd's manual says of index files, PATH_INFO, asis files, ranges and entity tags.
mod index_and_ranges;
/// Files that stay open between requests.
mod open_file_cache;
/// `PrecompressedFiles`, and files that are compressed once.
mod precompressed;
/// Pipes, devices and endless files where a file is expected.
mod special_files;
/// What a client gets of a file: type, dates, ranges, conditions.
mod static_files;
/// Symbolic links, and other ways out of a site.
mod symlinks;
/// Which looks at the file system a request costs.
mod syscalls;
/// What the extension of a name says: type, encoding, language, handler.
mod types;
