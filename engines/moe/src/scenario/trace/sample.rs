//! Normal, gamma and Dirichlet numbers from a random stream.

use lightbay_core::random::Stream;
use rand::RngExt;

/// Samples normal numbers in pairs (polar method of Marsaglia).
#[derive(Debug)]
pub struct Normal {
    stream: Stream,
    spare: Option<f64>,
}

impl Normal {
    /// Creates a sampler that uses a stream.
    pub const fn new(stream: Stream) -> Self {
        Self { stream, spare: None }
    }

    /// Samples a uniform number, above 0 and below 1.
    pub fn uniform(&mut self) -> f64 {
        loop {
            let number: f64 = self.stream.random();
            if number > 0.0 {
                return number;
            }
        }
    }

    /// Samples a standard normal number.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (2.0 * self.stream.random::<f64>() - 1.0, 2.0 * self.stream.random::<f64>() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(y * factor);
                return x * factor;
            }
        }
    }

    /// Samples a gamma number of a positive shape and scale 1 (Marsaglia and Tsang).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let boost = self.uniform().powf(1.0 / shape);
            return self.gamma(shape + 1.0) * boost;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v <= 0.0 {
                continue;
            }
            let u = self.uniform();
            if u < 1.0 - 0.0331 * x.powi(4) || u.ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
                return d * v;
            }
        }
    }

    /// Fills `shares` with a Dirichlet vector of the given weights. Weights of zero give shares of zero.
    pub fn dirichlet(&mut self, weights: impl IntoIterator<Item = f64>, shares: &mut [f64]) {
        let mut sum = 0.0;
        for (share, weight) in shares.iter_mut().zip(weights) {
            *share = if weight > 0.0 { self.gamma(weight) } else { 0.0 };
            sum += *share;
        }
        if sum > 0.0 {
            for share in shares {
                *share /= sum;
            }
        } else {
            // The weights are so small that every number was rounded to zero.
            let even = 1.0 / shares.len() as f64;
            shares.fill(even);
        }
    }
}
