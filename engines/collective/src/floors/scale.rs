//! Integers that represent exact fractions, for flows.

use crate::scenario::rational::Rational;
use thiserror::Error;

/// Error: a number does not fit into 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("capacities and shards need integers of more than 128 bits: give them with fewer digits")]
pub struct Overflow;

/// Integers proportional to fractions: `fraction = number * unit`, with the largest possible unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scaled {
    /// Integers without a common divisor.
    pub numbers: Vec<i128>,
    /// Quantity that the number 1 represents.
    pub unit: Rational,
}

/// Returns the smallest integers that are proportional to non-negative fractions.
///
/// # Errors
/// If they need more than 128 bits.
pub fn scale(fractions: &[Rational]) -> Result<Scaled, Overflow> {
    let mut common = 1_i128;
    for fraction in fractions {
        // Least common multiple of the denominators.
        let factor = fraction.denominator() / gcd(common, fraction.denominator()).max(1);
        common = common.checked_mul(factor).ok_or(Overflow)?;
    }
    let mut numbers = Vec::with_capacity(fractions.len());
    let mut divisor = 0_i128;
    for fraction in fractions {
        let number = fraction.numerator().checked_mul(common / fraction.denominator()).ok_or(Overflow)?;
        divisor = gcd(divisor, number);
        numbers.push(number);
    }
    // A common divisor would make the flows larger than necessary.
    let divisor = divisor.max(1);
    for number in &mut numbers {
        *number /= divisor;
    }
    Ok(Scaled { numbers, unit: Rational::new(divisor, common).ok_or(Overflow)? })
}

/// Returns the greatest common divisor of two non-negative numbers; 0 for two zeros.
pub const fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fraction(numerator: i128, denominator: i128) -> Rational {
        Rational::new(numerator, denominator).unwrap()
    }

    #[test]
    fn numbers_are_as_small_as_they_can_be() {
        let scaled = scale(&[fraction(25, 2), fraction(50, 1)]).unwrap();
        assert_eq!(scaled, Scaled { numbers: vec![1, 4], unit: fraction(25, 2) });
        assert_eq!(scale(&[]).unwrap().numbers, Vec::<i128>::new());
        let primes = [10_i128.pow(18) + 9, 10_i128.pow(18) + 7, 10_i128.pow(18) + 3];
        assert_eq!(scale(&primes.map(|prime| fraction(1, prime))), Err(Overflow));
    }

    proptest! {
        #[test]
        fn scaling_keeps_every_value(values in proptest::collection::vec((0_i128..1000, 1_i128..60), 1..8)) {
            let fractions: Vec<Rational> = values.iter().map(|(a, b)| fraction(*a, *b)).collect();
            let scaled = scale(&fractions).unwrap();
            for (fraction, number) in fractions.iter().zip(&scaled.numbers) {
                prop_assert_eq!(scaled.unit.times(Rational::whole(*number)), Some(*fraction));
            }
        }
    }
}
