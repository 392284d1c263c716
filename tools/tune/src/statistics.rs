//! Statistics of noisy measurements.

/// A mean with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// In the unit of the values.
    pub mean: f64,
    /// Half of the interval's width; infinite with fewer than two values.
    pub margin: f64,
}

/// Two-sided 95 % quantiles of Student's t, by degrees of freedom from 1.
const T: [f64; 15] =
    [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131];
/// Quantile for more degrees of freedom than in `T`.
const NORMAL: f64 = 1.96;

impl Estimate {
    pub fn of(values: &[f64]) -> Estimate {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count.max(1.0);
        if values.len() < 2 {
            return Estimate { mean, margin: f64::INFINITY };
        }
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let t = T.get(values.len() - 2).copied().unwrap_or(NORMAL);
        Estimate { mean, margin: t * (variance / count).sqrt() }
    }
}

/// Mean ratio of pairs, as a natural logarithm, since only logarithms of ratios are symmetric around their mean.
/// `None`: there is no finite pair.
pub fn ratio(pairs: &[(f64, f64)]) -> Option<Estimate> {
    let logs: Vec<f64> = pairs.iter().map(|(a, b)| (a / b).ln()).filter(|log| log.is_finite()).collect();
    (!logs.is_empty()).then(|| Estimate::of(&logs))
}

/// The median, which is less sensitive to outliers than the mean.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = |at: usize| sorted.get(at).copied().unwrap_or_default();
    match sorted.len() {
        0 => 0.0,
        count if count % 2 == 1 => middle(count / 2),
        count => (middle(count / 2) + middle(count / 2 - 1)) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_narrows_with_more_that_agree() {
        assert_eq!(Estimate::of(&[]), Estimate { mean: 0.0, margin: f64::INFINITY });
        assert_eq!(Estimate::of(&[5.0]).margin, f64::INFINITY);
        let [two, four] = [&[9.0, 11.0][..], &[9.0, 11.0, 9.0, 11.0]].map(Estimate::of);
        assert!((two.margin - 12.706).abs() < 1e-9 && four.margin < 2.0, "{two:?} {four:?}");
        assert_eq!((two.mean, four.mean), (10.0, 10.0));
    }

    #[test]
    fn a_ratio_is_of_pairs_and_a_median_of_all() {
        let same = ratio(&[(10.0, 10.0), (20.0, 20.0)]).expect("pairs");
        assert_eq!((same.mean, same.margin), (0.0, 0.0));
        assert_eq!(ratio(&[(0.0, 1.0)]), None);
        assert_eq!([median(&[]), median(&[3.0, 1.0, 2.0]), median(&[1.0, 2.0, 9.0, 4.0])], [0.0, 2.0, 3.0]);
    }
}
