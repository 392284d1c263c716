//! The files of users and groups, and what is looked for in them.

use std::time::Instant;

use super::answers::SqlAnswers;
use super::digest::DigestFile;
use super::files::{self, FileCache};
use super::lines::{GroupFile, PasswordFile};
use super::proof::CacheScope;
use databases::{DbmFile, SqlQuestion};

/// A file that has to be checked or read.
pub enum UserFileReading {
    /// An AuthUserFile of htpasswd.
    Users(files::FileReading<PasswordFile>),
    /// An AuthUserFile of htdigest.
    Digests(files::FileReading<DigestFile>),
    /// An AuthGroupFile.
    Groups(files::FileReading<GroupFile>),
    /// An AuthDBMUserFile or AuthDBMGroupFile.
    Dbm(files::FileReading<DbmFile>),
}

/// Result of checking or reading a file.
pub enum UserFileLook {
    /// An AuthUserFile of htpasswd.
    Users(files::FileLook<PasswordFile>),
    /// An AuthUserFile of htdigest.
    Digests(files::FileLook<DigestFile>),
    /// An AuthGroupFile.
    Groups(files::FileLook<GroupFile>),
    /// An AuthDBMUserFile or AuthDBMGroupFile.
    Dbm(files::FileLook<DbmFile>),
}

impl UserFileReading {
    /// Checks time and size of the file, which may block on the disk. `Err`: it must be read.
    pub fn glance(self) -> Result<UserFileLook, UserFileReading> {
        match self {
            UserFileReading::Users(reading) => {
                reading.glance().map(UserFileLook::Users).map_err(UserFileReading::Users)
            }
            UserFileReading::Digests(reading) => {
                reading.glance().map(UserFileLook::Digests).map_err(UserFileReading::Digests)
            }
            UserFileReading::Groups(reading) => {
                reading.glance().map(UserFileLook::Groups).map_err(UserFileReading::Groups)
            }
            UserFileReading::Dbm(reading) => reading.glance().map(UserFileLook::Dbm).map_err(UserFileReading::Dbm),
        }
    }

    /// Checks or reads the file, which may take long.
    pub fn take(self) -> UserFileLook {
        match self {
            UserFileReading::Users(reading) => UserFileLook::Users(reading.take()),
            UserFileReading::Digests(reading) => UserFileLook::Digests(reading.take()),
            UserFileReading::Groups(reading) => UserFileLook::Groups(reading.take()),
            UserFileReading::Dbm(reading) => UserFileLook::Dbm(reading.take()),
        }
    }
}

/// Caches of files.
#[derive(Default)]
pub struct UserFiles {
    pub passwords: FileCache<PasswordFile>,
    pub digests: FileCache<DigestFile>,
    pub groups: FileCache<GroupFile>,
    pub dbm: FileCache<DbmFile>,
}

impl UserFiles {
    /// Stores the result of checking or reading a file.
    pub fn learn(&self, look: UserFileLook) {
        match look {
            UserFileLook::Users(look) => self.passwords.learn(look),
            UserFileLook::Digests(look) => self.digests.learn(look),
            UserFileLook::Groups(look) => self.groups.learn(look),
            UserFileLook::Dbm(look) => self.dbm.learn(look),
        }
    }
}

/// The user, or the user and realm, whose hash is looked for.
#[derive(Clone, Copy)]
pub struct HashQuery<'a> {
    pub user: &'a str,
    /// The realm, for AuthType Digest.
    pub realm: Option<&'a str>,
    /// The place of the request among those that share cached passwords; `None`: nothing is cached.
    pub scope: Option<CacheScope<'a>>,
    /// Files must have been checked since.
    pub since: Instant,
    /// Answers of databases.
    pub answers: &'a SqlAnswers,
    /// Index of the first provider to ask.
    pub source: usize,
}

/// A user's hash.
pub struct StoredHash {
    pub text: String,
    /// Where it is, for messages.
    pub place: String,
    /// Names and values of further columns.
    pub columns: Vec<(String, String)>,
}

/// Why there is no hash, or are no groups.
pub enum NoAnswer {
    /// No provider knows the user.
    Unknown(String),
    /// A provider cannot be asked.
    Misconfigured(String),
    /// A file must be checked or read first.
    Unread(UserFileReading),
    /// A database must be asked first.
    Unasked(SqlQuestion),
    /// The provider with this index has no hash: its directory compares the password.
    Directory(usize),
}
