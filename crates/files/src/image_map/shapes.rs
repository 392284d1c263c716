//! Parts of an image.

/// Maximum number of points of a shape, as in httpd.
const MAX_POINTS: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapShape {
    Rect,
    Circle,
    Poly,
    /// The nearest one answers where no other shape does.
    Point,
}

impl MapShape {
    pub fn named(name: &str) -> Option<MapShape> {
        Some(match name.to_ascii_lowercase().as_str() {
            "rect" => MapShape::Rect,
            "circle" => MapShape::Circle,
            "poly" => MapShape::Poly,
            "point" => MapShape::Point,
            _ => return None,
        })
    }

    /// Whether a point is in the shape. A border belongs to it.
    pub fn has(self, points: &[(f64, f64)], at: (f64, f64)) -> bool {
        match (self, points) {
            (MapShape::Rect, [a, b, ..]) => between(a.0, at.0, b.0) && between(a.1, at.1, b.1),
            (MapShape::Circle, [centre, edge, ..]) => distance(*centre, at) <= distance(*centre, *edge),
            (MapShape::Poly, points) => is_in(points, at),
            _ => false,
        }
    }
}

/// The points of a line: numbers in pairs, before or behind a text in quotation marks.
pub fn points(rest: &str) -> Vec<(f64, f64)> {
    let plain = match rest.strip_prefix('"').and_then(|text| text.split_once('"')) {
        Some((_, behind)) => behind,
        None => rest.split('"').next().unwrap_or_default(),
    };
    let words = plain.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
    let numbers: Vec<f64> = words.map_while(|word| word.parse().ok()).take(2 * MAX_POINTS).collect();
    let (pairs, _) = numbers.as_chunks();
    pairs.iter().map(|[x, y]| (*x, *y)).collect()
}

/// The square of the distance.
pub fn distance(a: (f64, f64), b: (f64, f64)) -> f64 {
    (a.0 - b.0).powi(2) + (a.1 - b.1).powi(2)
}

fn between(a: f64, x: f64, b: f64) -> bool {
    a.min(b) <= x && x <= a.max(b)
}

/// Whether a line from the point crosses the sides of the polygon an odd number of times.
fn is_in(points: &[(f64, f64)], at: (f64, f64)) -> bool {
    let (x, y) = at;
    let next = points.iter().cycle().skip(1);
    let mut crossings = 0;
    for (&(x1, y1), &(x2, y2)) in points.iter().zip(next) {
        let side = (y - y1) * (x2 - x1) - (x - x1) * (y2 - y1);
        if side == 0.0 && between(x1, x, x2) && between(y1, y, y2) {
            return true;
        }
        if (y1 >= y) != (y2 >= y) {
            crossings += u32::from(if y2 >= y1 { side >= 0.0 } else { side <= 0.0 });
        }
    }
    crossings % 2 == 1
}
