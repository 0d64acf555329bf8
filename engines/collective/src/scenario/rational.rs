//! Exact fractions: capacities, rates and shares without rounding.

use std::cmp::Ordering;
use std::fmt;

/// A fraction in lowest terms, with a positive denominator.
///
/// Operations return `None` if numerator or denominator do not fit into 128 bits; nothing is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rational {
    numerator: i128,
    denominator: i128,
}

impl Rational {
    /// The number 0.
    pub const ZERO: Self = Self { numerator: 0, denominator: 1 };
    /// The number 1.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// Creates the fraction of two numbers; `None` for a zero denominator.
    pub fn new(numerator: i128, denominator: i128) -> Option<Self> {
        let divisor = i128::try_from(gcd(numerator.unsigned_abs(), denominator.unsigned_abs())).ok()?;
        if denominator == 0 {
            return None;
        }
        let (mut numerator, mut denominator) = (numerator / divisor, denominator / divisor);
        if denominator < 0 {
            (numerator, denominator) = (numerator.checked_neg()?, denominator.checked_neg()?);
        }
        Some(Self { numerator, denominator })
    }

    /// Creates a fraction from an integer.
    pub const fn whole(number: i128) -> Self {
        Self { numerator: number, denominator: 1 }
    }

    /// Returns the number that the shortest decimal text of a float represents (0.1 is a tenth); `None` if the float is
    /// not finite or too large.
    pub fn of_decimal(number: f64) -> Option<Self> {
        if !number.is_finite() {
            return None;
        }
        let text = number.to_string();
        let (sign, digits) = text.strip_prefix('-').map_or((1, text.as_str()), |rest| (-1, rest));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mut numerator: i128 = 0;
        for digit in whole.bytes().chain(fraction.bytes()) {
            numerator = numerator.checked_mul(10)?.checked_add(i128::from(digit.checked_sub(b'0')?))?;
        }
        let denominator = 10i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        Self::new(numerator.checked_mul(sign)?, denominator)
    }

    /// Returns the numerator.
    pub const fn numerator(self) -> i128 {
        self.numerator
    }

    /// Returns the denominator, which is at least 1.
    pub const fn denominator(self) -> i128 {
        self.denominator
    }

    /// Returns the nearest float.
    pub fn as_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// Returns `true` if the fraction is zero.
    pub const fn is_zero(self) -> bool {
        self.numerator == 0
    }

    /// Returns the sum of this fraction and another one.
    pub fn plus(self, other: Self) -> Option<Self> {
        let divisor =
            i128::try_from(gcd(self.denominator.unsigned_abs(), other.denominator.unsigned_abs())).ok()?;
        let (left, right) = (other.denominator / divisor, self.denominator / divisor);
        let numerator = self.numerator.checked_mul(left)?.checked_add(other.numerator.checked_mul(right)?)?;
        Self::new(numerator, self.denominator.checked_mul(left)?)
    }

    /// Returns this fraction minus another one.
    pub fn minus(self, other: Self) -> Option<Self> {
        self.plus(Self { numerator: other.numerator.checked_neg()?, ..other })
    }

    /// Returns the product of this fraction and another one.
    pub fn times(self, other: Self) -> Option<Self> {
        // Reducing crosswise first keeps the products small.
        let left = Self::new(self.numerator, other.denominator)?;
        let right = Self::new(other.numerator, self.denominator)?;
        Self::new(
            left.numerator.checked_mul(right.numerator)?,
            left.denominator.checked_mul(right.denominator)?,
        )
    }

    /// Returns this fraction divided by another one; `None` also if the divisor is zero.
    pub fn over(self, other: Self) -> Option<Self> {
        self.times(Self::new(other.denominator, other.numerator)?)
    }

    /// Returns the largest integer that is not larger than the fraction.
    pub const fn floor(self) -> i128 {
        self.numerator.div_euclid(self.denominator)
    }

    /// Compares this fraction with another one.
    pub fn order(self, other: Self) -> Ordering {
        // Compares the integer parts first, then the reciprocals of the remainders in reversed order, as in Euclid's
        // algorithm: nothing can overflow.
        let (mut a, mut b, mut turned) = (self, other, false);
        loop {
            let (whole_a, whole_b) = (a.floor(), b.floor());
            let (rest_a, rest_b) =
                (a.numerator.rem_euclid(a.denominator), b.numerator.rem_euclid(b.denominator));
            let order = match whole_a.cmp(&whole_b) {
                Ordering::Equal => match (rest_a, rest_b) {
                    (0, 0) => Ordering::Equal,
                    (0, _) => Ordering::Less,
                    (_, 0) => Ordering::Greater,
                    _ => {
                        a = Self { numerator: a.denominator, denominator: rest_a };
                        b = Self { numerator: b.denominator, denominator: rest_b };
                        turned = !turned;
                        continue;
                    }
                },
                different => different,
            };
            return if turned { order.reverse() } else { order };
        }
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order(*other)
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.denominator == 1 {
            return self.numerator.fmt(f);
        }
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

/// Returns the greatest common divisor; 1 for two zeros.
fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fraction(numerator: i128, denominator: i128) -> Rational {
        Rational::new(numerator, denominator).unwrap()
    }

    #[test]
    fn decimals_are_read_as_they_are_written() {
        assert_eq!(Rational::of_decimal(0.1), Some(fraction(1, 10)));
        assert_eq!(Rational::of_decimal(-12.5), Some(fraction(-25, 2)));
        assert_eq!(Rational::of_decimal(1e21), Some(Rational::whole(10i128.pow(21))));
        assert_eq!(Rational::of_decimal(f64::NAN), None);
        assert_eq!(Rational::of_decimal(1e300), None);
    }

    #[test]
    fn what_does_not_fit_is_none() {
        let huge = Rational::whole(i128::MAX);
        assert_eq!(huge.plus(Rational::ONE), None);
        assert_eq!(huge.times(Rational::whole(2)), None);
        assert_eq!(Rational::ONE.over(Rational::ZERO), None);
        assert!(huge > fraction(i128::MAX, 2));
    }

    proptest! {
        #[test]
        fn they_reckon_as_fractions_do(a in -999i128..999, b in 1i128..999, c in -999i128..999, d in 1i128..999) {
            let (x, y) = (fraction(a, b), fraction(c, d));
            prop_assert_eq!(x.plus(y), Rational::new(a * d + c * b, b * d));
            prop_assert_eq!(x.minus(y), Rational::new(a * d - c * b, b * d));
            prop_assert_eq!(x.times(y), Rational::new(a * c, b * d));
            prop_assert_eq!(x.over(y), Rational::new(a * d, b * c));
            prop_assert_eq!(x.cmp(&y), (a * d).cmp(&(c * b)));
            prop_assert!(x.floor() * b <= a && a < (x.floor() + 1) * b);
        }
    }
}
