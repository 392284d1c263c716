//! SVG as librsvg draws it: a program that knows little of style sheets.

use std::process::Command;

use super::{Finished, Site};

/// Prints the colours of a PNG with the number of their pixels, the most frequent first. Each row of a PNG has a
/// filter.
const COLOURS: &str = r"
import sys, zlib, struct, collections
data, at, packed = open(sys.argv[1], 'rb').read(), 8, b''
while at < len(data):
    size, kind = struct.unpack('>I4s', data[at:at + 8])
    if kind == b'IHDR':
        width, height, depth, colour = struct.unpack('>IIBB', data[at + 8:at + 18])
        step = {2: 3, 6: 4}[colour]
    if kind == b'IDAT':
        packed += data[at + 8:at + 8 + size]
    at += 12 + size
raw, row, seen = zlib.decompress(packed), bytearray(width * step), collections.Counter()
for y in range(height):
    start = y * (width * step + 1)
    kind, line = raw[start], bytearray(raw[start + 1:start + 1 + width * step])
    for x in range(len(line)):
        a = line[x - step] if x >= step else 0
        b, c = row[x], row[x - step] if x >= step else 0
        p = a + b - c
        paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
        line[x] = (line[x] + [0, a, b, (a + b) // 2, paeth][kind]) % 256
    row = line
    for x in range(0, len(line), step):
        seen[bytes(line[x:x + 3]).hex()] += 1
for colour, count in seen.most_common():
    print(colour, count)
";

/// The colours of `file` as drawn, such as `c2410c`, with the number of their pixels, the most frequent first.
#[track_caller]
pub fn colours(site: &Site, file: &str) -> Vec<(String, u64)> {
    let picture = site.path("drawn.png");
    let mut draw = Command::new("rsvg-convert");
    Finished::of(draw.arg("-o").arg(&picture).arg(site.path(file))).succeeded();
    let mut read = Command::new("python3");
    let output = Finished::of(read.args(["-c", COLOURS]).arg(&picture)).succeeded().out;
    let colour = |line: &str| {
        let (colour, count) = line.split_once(' ').expect("a colour and a number");
        (colour.to_owned(), count.parse().expect("a number"))
    };
    output.lines().map(colour).collect()
}

/// Whether two colours look alike: a thin line has its own colour nowhere if it lies between two rows of pixels.
pub fn look_alike(one: &str, other: &str) -> bool {
    let parts = |colour: &str| u32::from_str_radix(colour, 16).expect("six digits").to_be_bytes();
    parts(one).iter().zip(parts(other)).all(|(one, other)| one.abs_diff(other) < 0x30)
}
