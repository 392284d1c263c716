//! What a recording gives: stacks, how often each was seen, and what it had of the processors.

use libperl::FrameCode;
use serde::{Deserialize, Serialize};

/// All samples of a recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// How long it lasted.
    pub seconds: f64,
    /// How often all workers were looked at.
    pub rounds: u64,
    /// How often a worker had a request.
    pub samples: u64,
    /// How many of these could not be read, because the stack changed meanwhile.
    pub torn: u64,
    /// Where workers were: stacks name these by their places in this list.
    pub frames: Vec<Frame>,
    /// By requests.
    pub requests: Vec<RequestProfile>,
}

/// Samples of one method, host and path.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestProfile {
    /// `GET www.example.com/page`
    pub request: String,
    /// Each once.
    pub stacks: Vec<Stack>,
}

/// A stack.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    /// The outermost first.
    pub frames: Vec<u32>,
    /// How often it was seen.
    pub samples: u64,
    /// What workers had of the processors until they were seen there, in microseconds.
    pub cpu_us: u64,
}

/// A place in Perl code.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// What kind of code.
    pub code: Code,
    /// `My::Page::handler`, or the operator.
    pub name: String,
    /// Of the statement.
    pub file: String,
    /// Of the statement.
    pub line: u32,
}

/// What a frame is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Code {
    /// A sub.
    Sub,
    /// A sub that is written in C.
    Native,
    /// `eval` of a string.
    Eval,
    /// A file that is being loaded.
    File,
    /// An operator that may wait, or work for long.
    Operator,
}

/// Operators that may wait, or work for long. The others take as long as it takes to name them.
const TELLING: &[&str] = &[
    "match",
    "subst",
    "trans",
    "split",
    "sort",
    "grepwhile",
    "join",
    "pack",
    "unpack",
    "sprintf",
    "formline",
    "study",
    "sleep",
    "select",
    "sselect",
    "read",
    "sysread",
    "syswrite",
    "readline",
    "eof",
    "print",
    "say",
    "prtf",
    "recv",
    "send",
    "connect",
    "accept",
    "bind",
    "socket",
    "flock",
    "truncate",
    "open",
    "close",
    "sysopen",
    "stat",
    "lstat",
    "unlink",
    "rename",
    "readdir",
    "open_dir",
    "glob",
    "mkdir",
    "rmdir",
    "system",
    "exec",
    "backtick",
    "fork",
    "wait",
    "waitpid",
    "pipe_op",
    "require",
    "dofile",
    "entereval",
    "dbmopen",
    "ghbyname",
    "ghbyaddr",
    "gpwnam",
    "ggrnam",
    "crypt",
    "repeat",
    "reverse",
    "keys",
    "values",
    "each",
    "tie",
    "undef",
    "kill",
    "syscall",
    "ioctl",
    "fcntl",
    "chdir",
    "ftfile",
    "ftdir",
    "ftsize",
];

/// Methods that DBI's drivers have in C.
const OF_DBI: &[&str] = &[
    "do",
    "execute",
    "selectrow_array",
    "selectrow_arrayref",
    "selectall_arrayref",
    "selectcol_arrayref",
    "selectrow_hashref",
    "fetchrow_array",
    "fetchrow_arrayref",
    "fetchrow_hashref",
    "fetchall_arrayref",
    "fetchall_hashref",
    "prepare",
    "commit",
    "rollback",
    "disconnect",
    "ping",
];

impl Frame {
    /// `None` for an operator that tells nothing.
    pub fn of(frame: libperl::Frame) -> Option<Frame> {
        let libperl::Frame { code, file, line } = frame;
        let (code, name) = match code {
            FrameCode::Sub(name) => (Code::Sub, name),
            FrameCode::Native(name) => (Code::Native, name),
            FrameCode::Eval => (Code::Eval, "eval".to_owned()),
            FrameCode::File => (Code::File, "require".to_owned()),
            FrameCode::Operator(name) if TELLING.contains(&name.as_str()) => (Code::Operator, name),
            FrameCode::Operator(_) => return None,
        };
        Some(Frame { code, name, file, line })
    }

    /// Whether it is of a database's client: DBI, or a driver of it.
    pub fn is_database(&self) -> bool {
        let method = self.name.strip_prefix("->");
        self.name.starts_with("DBI::")
            || self.name.starts_with("DBD::")
            || method.is_some_and(|name| OF_DBI.contains(&name))
    }
}

impl std::fmt::Display for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.code {
            Code::Operator => write!(f, "({}) at {} line {}", self.name, self.file, self.line),
            _ => write!(f, "{} at {} line {}", self.name, self.file, self.line),
        }
    }
}
