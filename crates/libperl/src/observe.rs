//! Reads the activity and the Perl stack of another process, forked from the same mold, from its memory while
//! it runs. Data that changes meanwhile may be torn: then there is no result, or names are missing.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use libperl_sys as sys;

/// Maximum number of frames of a stack, from the innermost.
const MAX_FRAMES: usize = 128;
/// Longest name of a sub or file, in bytes; longer ones are cut.
const MAX_BYTES: usize = 512;

/// The memory of another process.
pub trait MemoryReader {
    /// Reads from `address`. Returns false unless all of it could be read.
    fn read(&self, address: usize, into: &mut [u8]) -> bool;
}

/// The current activity of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerlActivity {
    /// As in the frame that the front sent.
    pub request: u64,
    /// When the front had the complete head, in µs since 1970.
    pub received_us: u64,
    /// When the worker began the request, in µs since 1970.
    pub begun_us: u64,
    /// `GET`
    pub method: String,
    /// The requested host.
    pub host: String,
    /// Address of the client.
    pub client: String,
    /// Path and query as sent; a long one is cut.
    pub target: String,
    /// The running phase, as set by [`activity_phase`]; 0: none.
    pub phase: u16,
    perl: usize,
}

/// Records that this process begins a request.
pub fn activity_begins(number: u64, received_us: u64, texts: [&[u8]; 4]) {
    let texts = texts.map(|text| sys::Bytes { bytes: text.as_ptr().cast(), length: text.len() });
    // SAFETY: four pairs of pointer and length, which are copied.
    unsafe { sys::cml_activity_begins(number, received_us, texts.as_ptr()) }
}

/// Records the phase of the request; returns the previous one.
pub fn activity_phase(number: u16) -> u16 {
    sys::cml_activity_phase(number)
}

/// Records that this process has no request.
pub fn activity_ends() {
    sys::cml_activity_ends()
}

/// The address of this process' activity; it is the same in every fork.
pub fn activity_address() -> usize {
    sys::cml_activity_address()
}

/// Reads the activity of the process with that `memory`. `None`: the process has no request.
pub fn activity(memory: &dyn MemoryReader, address: usize) -> Option<PerlActivity> {
    let mut copied = sys::RawActivity {
        request: 0,
        received_us: 0,
        begun_us: 0,
        perl: 0,
        lengths: [0; 4],
        phase: 0,
        texts: [0; 438],
        again: 0,
    };
    // SAFETY: fills a struct of the shape that the shim declares; the hook and its argument live during the call.
    if unsafe { sys::cml_activity_of(&hook(&memory), address, &raw mut copied) } == 0 {
        return None;
    }
    let mut rest = copied.texts.as_slice();
    let mut text = |length: u16| {
        let (text, behind) = rest.split_at(usize::from(length).min(rest.len()));
        rest = behind;
        String::from_utf8_lossy(text).into_owned()
    };
    let [method, host, client, target] = copied.lengths;
    let (method, host, client, target) = (text(method), text(host), text(client), text(target));
    let sys::RawActivity { request, received_us, begun_us, perl, phase, .. } = copied;
    Some(PerlActivity { request, received_us, begun_us, method, host, client, target, phase, perl })
}

/// A stack frame of a perl.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PerlFrame {
    /// The code that runs in the frame.
    pub code: FrameCode,
    /// The file of the current statement.
    pub file: String,
    /// Line of the current statement in `file`, counted from 1.
    pub line: u32,
}

/// As `caller` distinguishes them, and operators.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FrameCode {
    /// `My::Page::handler`
    Sub(String),
    /// A sub written in C.
    Native(String),
    /// `eval` of a string.
    Eval,
    /// A file that is being loaded.
    File,
    /// Innermost frame only: an operator of perl such as `sleep`.
    Operator(String),
}

/// Reads stacks of one process, and caches the names.
#[derive(Debug, Default)]
pub struct StackReader {
    subs: HashMap<usize, String>,
    places: HashMap<usize, (String, u32)>,
}

impl StackReader {
    /// Clears the cache: the process may have reused the addresses.
    pub fn forget(&mut self) {
        self.subs.clear();
        self.places.clear();
    }

    /// The stack, innermost frame first. `None`: it changed while it was read, or the process has another
    /// request or none.
    pub fn stack(
        &mut self,
        memory: &dyn MemoryReader,
        address: usize,
        activity: &PerlActivity,
    ) -> Option<Vec<PerlFrame>> {
        let frames = frames(memory, activity.perl);
        let stack: Option<Vec<PerlFrame>> = frames.iter().map(|frame| self.named(memory, frame)).collect();
        let is_the_same = self::activity(memory, address).is_some_and(|now| now.request == activity.request);
        stack.filter(|stack| is_the_same && !stack.is_empty())
    }

    fn named(&mut self, memory: &dyn MemoryReader, frame: &sys::RawFrame) -> Option<PerlFrame> {
        let code = match frame.kind {
            SUB => FrameCode::Sub(self.sub(memory, frame.sub)?),
            NATIVE => FrameCode::Native(self.sub(memory, frame.sub)?),
            EVAL => FrameCode::Eval,
            FILE => FrameCode::File,
            METHOD => FrameCode::Native(self.method(memory, frame.sub)?),
            _ => FrameCode::Operator(operator(frame.sub)),
        };
        let (file, line) = self.place(memory, frame.place)?;
        Some(PerlFrame { code, file, line })
    }

    /// `->name`: the stack does not show the class.
    fn method(&mut self, memory: &dyn MemoryReader, name: usize) -> Option<String> {
        let name = text(|into, room| {
            // SAFETY: at most `room` bytes go into `into`; the hook and its argument live during the call.
            unsafe { sys::cml_method_name_of(&hook(&memory), name, into, room) }
        })?;
        Some(format!("->{name}"))
    }

    fn sub(&mut self, memory: &dyn MemoryReader, sub: usize) -> Option<String> {
        if let Some(name) = self.subs.get(&sub) {
            return Some(name.clone());
        }
        let name = text(|into, room| {
            // SAFETY: at most `room` bytes go into `into`; the hook and its argument live during the call.
            unsafe { sys::cml_sub_name_of(&hook(&memory), sub, into, room) }
        })?;
        self.subs.insert(sub, name.clone());
        Some(name)
    }

    fn place(&mut self, memory: &dyn MemoryReader, place: usize) -> Option<(String, u32)> {
        if let Some(known) = self.places.get(&place) {
            return Some(known.clone());
        }
        let mut line: c_uint = 0;
        let file = text(|into, room| {
            // SAFETY: at most `room` bytes go into `into`; the hook, its argument and `line` live during the call.
            unsafe { sys::cml_place_of(&hook(&memory), place, into, room, &raw mut line) }
        })?;
        self.places.insert(place, (file.clone(), line));
        Some((file, line))
    }
}

const SUB: c_int = 0;
const NATIVE: c_int = 1;
const EVAL: c_int = 2;
const FILE: c_int = 3;
const METHOD: c_int = 4;

fn frames(memory: &dyn MemoryReader, perl: usize) -> Vec<sys::RawFrame> {
    let mut frames = vec![sys::RawFrame { kind: 0, sub: 0, place: 0 }; MAX_FRAMES];
    // SAFETY: at most `frames.len()` frames are written; the hook and its argument live during the call.
    let count = unsafe { sys::cml_stack_of(&hook(&memory), perl, frames.as_mut_ptr(), frames.len()) };
    frames.truncate(count);
    frames
}

fn operator(number: usize) -> String {
    // SAFETY: perl's operator names are constant; an unknown number gives an empty one.
    unsafe { CStr::from_ptr(sys::cml_operator_name(number)) }.to_string_lossy().into_owned()
}

/// The text that `write` stores in a buffer; `None` for an empty text.
fn text(write: impl FnOnce(*mut c_char, usize) -> usize) -> Option<String> {
    let mut bytes = [0_u8; MAX_BYTES];
    let length = write(bytes.as_mut_ptr().cast(), bytes.len());
    let text = bytes.get(..length).filter(|text| !text.is_empty())?;
    Some(String::from_utf8_lossy(text).into_owned())
}

fn hook(memory: &&dyn MemoryReader) -> sys::RawMemory {
    sys::RawMemory { read, from: std::ptr::from_ref(memory).cast_mut().cast() }
}

unsafe extern "C" fn read(from: *mut c_void, address: usize, into: *mut c_void, length: usize) -> c_int {
    // SAFETY: `hook` lends it during the call.
    let memory = unsafe { *from.cast::<&dyn MemoryReader>() };
    // SAFETY: the shim passes its own buffer of that length, which it reads only after this call.
    let into = unsafe { std::slice::from_raw_parts_mut(into.cast::<u8>(), length) };
    c_int::from(memory.read(address, into))
}
