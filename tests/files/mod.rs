//! Files and folders that the front serves without a worker.

/// Files whose names are not cached by the kernel: another thread opens them.
mod aside;
/// Directory listings, trailing slashes, entity tags.
mod folders;
/// `imap-file`: clicks in images.
mod image_maps;
/// Index files, PATH_INFO, asis files, ranges and entity tags as httpd's manual describes them.
mod index_and_ranges;
/// Icons, descriptions and texts of listings; what they hide.
mod listings;
/// MultiViews and type maps.
mod negotiation;
/// `OpenFileCache`: files that stay open between requests.
mod open_file_cache;
/// `PrecompressedFiles`, and the cache of compressed files.
mod precompressed;
/// Pipes, devices and endless files where a file is expected.
mod special_files;
/// `CheckSpelling`, `DirectoryIndexRedirect`, `CookieTracking`.
mod spelling;
/// Responses for files: type, dates, ranges, conditions.
mod static_files;
/// Symbolic links, and other ways out of a site.
mod symlinks;
/// File system calls of a request.
mod syscalls;
/// Extensions: type, encoding, language, handler.
mod types;
