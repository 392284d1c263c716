//! Random numbers for loads and statistics, not for cryptography: SplitMix64.

use std::hash::{BuildHasher, RandomState};

/// A sequence of random numbers.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn new() -> Random {
        Random(RandomState::new().hash_one(0))
    }

    #[cfg(test)]
    pub fn seeded(seed: u64) -> Random {
        Random(seed)
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number above 0 and up to 1.
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// A gap between events of a Poisson process with `rate` events per second, in seconds.
    pub fn gap(&mut self, rate: f64) -> f64 {
        -self.unit().ln() / rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_as_long_and_as_uneven_as_poisson_has_them() {
        let mut random = Random::seeded(1);
        let gaps: Vec<f64> = (0..100_000).map(|_| random.gap(50.0)).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean - 0.02).abs() < 0.0004, "{mean}");
        assert!((variance.sqrt() - 0.02).abs() < 0.0006, "{variance}");
    }
}
