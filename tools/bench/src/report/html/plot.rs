//! Line diagrams as SVG, with the page's colours.

use std::fmt::Write;

use super::escape;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 744.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 246.0;
/// CSS classes of the lines' colours, and the colours where there is no style sheet.
const LINES: [(&str, &str); 4] = [("one", "#0f766e"), ("two", "#c2410c"), ("three", "#6d28d9"), ("four", "#b91c1c")];
/// Classes and looks of other shapes, as attributes: not every program that draws SVG knows style sheets.
const TITLE: &str = "class=\"title\" font-weight=\"600\"";
const RULE: &str = "class=\"rule\" stroke=\"#dfe4e9\" fill=\"none\"";
const BELOW: &str = "class=\"below\" fill=\"#5b6875\" text-anchor=\"middle\"";
const BESIDE: &str = "class=\"beside\" fill=\"#5b6875\" text-anchor=\"end\"";
const UPRIGHT: &str = "class=\"upright\" stroke=\"#b91c1c\" stroke-dasharray=\"4 3\" fill=\"none\"";
const MARK: &str = "class=\"mark\" fill=\"#b91c1c\"";

/// Up to four lines in one pair of axes, drawn as SVG without scripts.
pub struct Plot {
    /// Text above the diagram; escaped when it is drawn.
    pub title: String,
    /// From left to right.
    pub x: Axis,
    /// From the bottom upwards.
    pub y: Axis,
    /// Names and points of at most four lines.
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
    /// A marked position on the horizontal axis, with its label.
    pub upright: Option<(f64, String)>,
}

/// An axis with its range and labels.
pub struct Axis {
    /// The lowest value.
    pub low: f64,
    /// The highest value, above `low`.
    pub high: f64,
    /// Positions and texts of the labels.
    pub marks: Vec<(f64, String)>,
}

impl Axis {
    /// A linear axis from 0, labelled at round numbers.
    pub fn linear(most: f64, name: impl Fn(f64) -> String) -> Axis {
        let high = if most > 0.0 { most } else { 1.0 };
        let rough = high / 5.0;
        let decade = 10f64.powf(rough.log10().floor());
        let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| decade * factor >= rough).unwrap_or(10.0);
        let step = decade * factor;
        let marks = (0..=(high / step) as u32).map(|n| f64::from(n) * step).map(|at| (at, name(at))).collect();
        Axis { low: 0.0, high: high * 1.05, marks }
    }

    /// A logarithmic axis, labelled at 1, 2 and 5 of each decade, or only at 1 if there are many decades.
    pub fn logarithmic(least: f64, most: f64, name: impl Fn(f64) -> String) -> Axis {
        let low = least.log10().floor();
        let high = most.log10().max(low + 0.5);
        let factors: &[f64] = if high - low > 3.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let decades = (low as i32)..=(high.ceil() as i32);
        let values = decades.flat_map(|decade| factors.iter().map(move |factor| factor * 10f64.powi(decade)));
        let marks = values.map(|value| (value.log10(), name(value))).filter(|(at, _)| *at <= high + 0.05).collect();
        Axis { low, high: high + 0.05, marks }
    }

    fn share(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

impl Plot {
    /// The SVG element.
    pub fn svg(&self) -> String {
        let title = escape(&self.title);
        format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">{}</svg>", self.drawn())
    }

    /// The contents of the element, for a larger picture.
    pub fn drawn(&self) -> String {
        let title = escape(&self.title);
        let mut svg = format!("<text {TITLE} x=\"{LEFT}\" y=\"18\">{title}</text>");
        for (at, word) in &self.x.marks {
            let (x, word) = (self.left(*at), escape(word));
            let _ = write!(
                svg,
                "<path {RULE} d=\"M{x:.1} {TOP}V{BOTTOM}\"/><text {BELOW} x=\"{x:.1}\" y=\"264\">{word}</text>"
            );
        }
        for (at, word) in &self.y.marks {
            let (y, word) = (self.top(*at), escape(word));
            let _ = write!(
                svg,
                "<path {RULE} d=\"M{LEFT} {y:.1}H{RIGHT}\"/><text {BESIDE} x=\"64\" y=\"{:.1}\">{word}</text>",
                y + 4.0
            );
        }
        if let Some((at, word)) = &self.upright {
            let (x, word) = (self.left(*at), escape(word));
            let _ = write!(
                svg,
                "<path {UPRIGHT} d=\"M{x:.1} {TOP}V{BOTTOM}\"/><text {MARK} x=\"{:.1}\" y=\"{:.1}\">{word}</text>",
                x + 4.0,
                TOP + 12.0
            );
        }
        for (number, (line, (class, colour))) in self.lines.iter().zip(LINES).enumerate() {
            let (name, points) = line;
            let look = format!("stroke=\"{colour}\" fill=\"none\" stroke-width=\"1.8\" stroke-linejoin=\"round\"");
            let (x, name) = (RIGHT - 150.0 * (self.lines.len() - number) as f64 + 20.0, escape(name));
            let _ = write!(svg, "<path class=\"line {class}\" d=\"{}\" {look}/>", self.path(points));
            if name.is_empty() {
                continue;
            }
            let _ = write!(
                svg,
                "<path class=\"line {class}\" d=\"M{x:.1} 14h18\" {look}/><text x=\"{:.1}\" y=\"18\">{name}</text>",
                x + 24.0
            );
        }
        svg
    }

    fn path(&self, points: &[(f64, f64)]) -> String {
        let mut path = String::new();
        for (number, (x, y)) in points.iter().enumerate() {
            let letter = if number == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{letter}{:.1} {:.1}", self.left(*x), self.top(*y));
        }
        path
    }

    fn left(&self, x: f64) -> f64 {
        LEFT + self.x.share(x) * (RIGHT - LEFT)
    }

    fn top(&self, y: f64) -> f64 {
        BOTTOM - self.y.share(y) * (BOTTOM - TOP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(axis: &Axis) -> String {
        axis.marks.iter().map(|(_, word)| word.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn marks_are_round_numbers_within_the_axis() {
        let name = |value: f64| format!("{value:.3}");
        assert_eq!(marks(&Axis::linear(10.0, name)), "0.000 2.000 4.000 6.000 8.000 10.000");
        assert_eq!(marks(&Axis::linear(0.0, name)), "0.000 0.200 0.400 0.600 0.800 1.000");
        assert_eq!(marks(&Axis::logarithmic(0.03, 0.3, name)), "0.010 0.020 0.050 0.100 0.200");
        assert_eq!(marks(&Axis::logarithmic(0.01, 100.0, name)), "0.010 0.100 1.000 10.000 100.000");
    }
}
