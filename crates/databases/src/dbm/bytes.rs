//! Numbers in the bytes of a file.

/// Byte order of a file, which is that of the machine that wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    /// The number of two bytes at `at`.
    pub fn short(self, bytes: &[u8], at: usize) -> Option<usize> {
        let number = *bytes.get(at..)?.first_chunk()?;
        Some(usize::from(match self {
            ByteOrder::Little => u16::from_le_bytes(number),
            ByteOrder::Big => u16::from_be_bytes(number),
        }))
    }

    /// The number of four bytes at `at`.
    pub fn word(self, bytes: &[u8], at: usize) -> Option<u32> {
        let number = *bytes.get(at..)?.first_chunk()?;
        Some(match self {
            ByteOrder::Little => u32::from_le_bytes(number),
            ByteOrder::Big => u32::from_be_bytes(number),
        })
    }

    /// The number of four bytes at `at`, as an offset or a length.
    pub fn place(self, bytes: &[u8], at: usize) -> Option<usize> {
        usize::try_from(self.word(bytes, at)?).ok()
    }

    /// The number of eight bytes at `at`, as an offset.
    pub fn long_place(self, bytes: &[u8], at: usize) -> Option<usize> {
        let number = *bytes.get(at..)?.first_chunk()?;
        usize::try_from(match self {
            ByteOrder::Little => u64::from_le_bytes(number),
            ByteOrder::Big => u64::from_be_bytes(number),
        })
        .ok()
    }
}
