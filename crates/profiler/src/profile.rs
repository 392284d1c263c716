//! The result of a recording: stacks, how often each was sampled, and their CPU time.

use libperl::FrameCode;
use serde::{Deserialize, Serialize};

/// All samples of a recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StackProfile {
    /// Length of the recording.
    pub seconds: f64,
    /// Number of rounds over all workers.
    pub rounds: u64,
    /// Samples in which a worker had a request.
    pub samples: u64,
    /// Samples that could not be read, because the stack changed meanwhile.
    pub torn: u64,
    /// All frames without duplicates. Stacks refer to them by index.
    pub frames: Vec<StackFrame>,
    /// The samples of each request path.
    pub requests: Vec<RequestProfile>,
}

/// Samples of one method, host and path.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestProfile {
    /// Method, host and path, such as `GET www.example.com/page`
    pub request: String,
    /// The different stacks.
    pub stacks: Vec<PerlStack>,
}

/// Samples with the same frames are counted, not stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PerlStack {
    /// Indices of the frames, outermost first.
    pub frames: Vec<u32>,
    /// Divided by the samples of all stacks: the share of the time.
    pub samples: u64,
    /// CPU time that workers had used until these samples, in µs.
    pub cpu_us: u64,
}

/// A place in Perl code, as part of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StackFrame {
    /// Tells whether `name` is a sub, a file or an operator.
    pub code: StackCode,
    /// `My::Page::handler`, or the operator.
    pub name: String,
    /// File of the statement.
    pub file: String,
    /// Line of the statement in `file`, counted from 1.
    pub line: u32,
}

/// The code of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StackCode {
    /// A sub that is written in Perl.
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

/// Operators that may wait or work for long. Others are too fast to show in samples.
const TELLING: &str = "match subst trans split sort grepwhile join pack unpack sprintf formline \
    study sleep select sselect read sysread syswrite readline eof print say prtf recv send connect accept bind socket \
    flock truncate open close sysopen stat lstat unlink rename readdir open_dir glob mkdir rmdir system exec backtick \
    fork wait waitpid pipe_op require dofile entereval dbmopen ghbyname ghbyaddr gpwnam ggrnam crypt repeat reverse \
    keys values each tie undef kill syscall ioctl fcntl chdir ftfile ftdir ftsize";

/// Methods that DBI's drivers implement in C.
const OF_DBI: &str = "do execute selectrow_array selectrow_arrayref selectall_arrayref \
    selectcol_arrayref selectrow_hashref fetchrow_array fetchrow_arrayref fetchrow_hashref fetchall_arrayref \
    fetchall_hashref prepare commit rollback disconnect ping";

impl StackFrame {
    /// Converts a frame; `None`: an operator that is too fast to matter.
    pub fn of(frame: libperl::PerlFrame) -> Option<StackFrame> {
        let libperl::PerlFrame { code, file, line } = frame;
        let (code, name) = match code {
            FrameCode::Sub(name) => (StackCode::Sub, name),
            FrameCode::Native(name) => (StackCode::Native, name),
            FrameCode::Eval => (StackCode::Eval, "eval".to_owned()),
            FrameCode::File => (StackCode::File, "require".to_owned()),
            FrameCode::Operator(name) if TELLING.split(' ').any(|telling| telling == name) => {
                (StackCode::Operator, name)
            }
            FrameCode::Operator(_) => return None,
        };
        Some(StackFrame { code, name, file, line })
    }

    /// Whether the sub belongs to a database client: DBI, or a driver of it.
    pub fn is_database(&self) -> bool {
        let method = self.name.strip_prefix("->");
        self.name.starts_with("DBI::")
            || self.name.starts_with("DBD::")
            || method.is_some_and(|name| OF_DBI.split(' ').any(|of_dbi| of_dbi == name))
    }
}

impl std::fmt::Display for StackFrame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.code {
            StackCode::Operator => write!(f, "({}) at {} line {}", self.name, self.file, self.line),
            _ => write!(f, "{} at {} line {}", self.name, self.file, self.line),
        }
    }
}
