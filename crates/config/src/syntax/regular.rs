//! Reading of files whose paths come from others: only regular files, up to a maximum size. A pipe cannot block the
//! reader, and a device cannot fill its memory.

use std::fs::{File, FileType, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::OFlag;

/// Opens a regular file. The type of the opened file is checked, so that the path cannot be exchanged in between.
pub fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let file = File::options().read(true).custom_flags(flags.bits()).open(path)?;
    let it = file.metadata()?;
    match kind(it.file_type()) {
        None => Ok((file, it)),
        Some(other) => Err(unfit(format!("the path is {other}, not a file"))),
    }
}

/// Reads a regular file of at most `most` bytes. The metadata belong to the file that was read.
pub fn read(path: &Path, most: u64) -> io::Result<(Metadata, Vec<u8>)> {
    let (file, it) = open(path)?;
    let too_long = || unfit(format!("the file is longer than {}", size(most)));
    if it.len() > most {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    // The file may grow meanwhile, and files in /proc have length 0.
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_long()) } else { Ok((it, bytes)) }
}

fn unfit(message: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, message)
}

/// Name of a file type other than a regular file.
fn kind(kind: FileType) -> Option<&'static str> {
    if kind.is_file() {
        return None;
    }
    Some(match kind {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_fifo() => "a named pipe",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    })
}

/// Formats a size: `64K`, `16M`.
fn size(bytes: u64) -> String {
    if bytes.is_multiple_of(1 << 20) { format!("{}M", bytes >> 20) } else { format!("{}K", bytes >> 10) }
}

#[cfg(test)]
mod tests {
    use nix::sys::stat::Mode;

    use super::*;

    fn refused(path: &Path) -> String {
        read(path, 64 << 10).unwrap_err().to_string()
    }

    #[test]
    fn only_regular_files_up_to_the_maximum_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("short"), "text").unwrap();
        assert_eq!(read(&at("short"), 4).unwrap().1, b"text");
        assert_eq!(read(&at("short"), 3).unwrap_err().kind(), ErrorKind::InvalidData);
        File::create(at("sparse")).unwrap().set_len(1 << 30).unwrap();
        assert_eq!(refused(&at("sparse")), "the file is longer than 64K");
        nix::unistd::mkfifo(&at("pipe"), Mode::S_IRWXU).unwrap();
        assert_eq!(refused(&at("pipe")), "the path is a named pipe, not a file");
        assert_eq!(refused(Path::new("/dev/zero")), "the path is a device, not a file");
        assert_eq!(refused(folder.path()), "the path is a folder, not a file");
        assert_eq!(read(&at("none"), 1).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
