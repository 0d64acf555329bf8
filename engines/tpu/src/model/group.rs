//! Finite groups as multiplication tables; in a symmetric pod, the number of each cube is the number of an element of
//! the group.

mod parse;

use lightbay_core::problem::Problem;

/// A finite group of at most 65 535 elements. Element 0 is the identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    order: usize,
    /// `table[a * order + b]` is a·b.
    table: Vec<u16>,
    inverse: Vec<u16>,
    name: String,
}

impl Group {
    /// The direct product of cyclic groups. Element `i + a * (j + b * k)` is (i, j, k) of `[a, b, c]`.
    ///
    /// # Errors
    /// A factor of 0, or a product beyond 65 535.
    pub fn abelian(factors: &[usize]) -> Result<Self, Problem> {
        let order = factors.iter().try_fold(1usize, |product, &factor| product.checked_mul(factor));
        let order = match order {
            Some(order) if (1..=usize::from(u16::MAX)).contains(&order) => order,
            _ => {
                return Err(Problem::new(
                    "group",
                    format!("{factors:?} is not a list of the cyclic factors of the group of a pod"),
                    "give factors of at least 1 whose product is the number of cubes, such as [2, 2]",
                ));
            }
        };
        let add = |a: usize, b: usize| {
            let (mut rest_a, mut rest_b, mut weight, mut sum) = (a, b, 1, 0);
            for &factor in factors {
                sum += weight * ((rest_a % factor + rest_b % factor) % factor);
                rest_a /= factor;
                rest_b /= factor;
                weight *= factor;
            }
            sum as u16
        };
        let table = (0..order * order).map(|at| add(at / order, at % order)).collect();
        let named: Vec<String> =
            factors.iter().filter(|&&factor| factor > 1).map(|factor| format!("Z{factor}")).collect();
        let name = if named.is_empty() { "Z1".to_owned() } else { named.join(" x ") };
        Ok(Self::sealed(order, table, name))
    }

    /// The group with `order` elements that is a product of at most three cyclic groups of sizes as equal as possible,
    /// smallest size first.
    ///
    /// # Panics
    /// Never for an order of 1 to 65 535.
    pub fn most_square(order: usize) -> Self {
        let mut best = vec![order];
        let mut spread = order;
        for a in (1..=order).filter(|a| order.is_multiple_of(*a)) {
            let rest = order / a;
            for b in (a..=rest).filter(|b| rest.is_multiple_of(*b)) {
                let c = rest / b;
                if c >= b && c - a < spread {
                    spread = c - a;
                    best = [a, b, c].into_iter().filter(|&factor| factor > 1).collect();
                }
            }
        }
        Self::abelian(&best).unwrap_or_else(|_| Self::sealed(1, vec![0], "Z1".to_owned()))
    }

    /// The dihedral group of `2 * sides` elements: rotations 0 to `sides - 1`, then reflections.
    ///
    /// # Errors
    /// No sides, or too many.
    pub fn dihedral(sides: usize) -> Result<Self, Problem> {
        if !(1..=1000).contains(&sides) {
            return Err(Problem::new(
                "group",
                format!("a dihedral group of {sides} sides is not supported"),
                "give 1 to 1000 sides",
            ));
        }
        let order = 2 * sides;
        let product = |a: usize, b: usize| {
            let (turn_a, turn_b, mirror_a, mirror_b) = (a % sides, b % sides, a / sides, b / sides);
            let turn = if mirror_a == 1 { turn_a + sides - turn_b } else { turn_a + turn_b } % sides;
            (turn + sides * (mirror_a ^ mirror_b)) as u16
        };
        let table = (0..order * order).map(|at| product(at / order, at % order)).collect();
        Ok(Self::sealed(order, table, format!("D{sides}")))
    }

    /// Creates a group from its multiplication table, row by row.
    ///
    /// # Errors
    /// The reason that the table is not a group with identity 0.
    pub fn from_table(rows: &[Vec<u16>]) -> Result<Self, Problem> {
        let order = rows.len();
        let refuse = |what: String| {
            Err(Problem::new(
                "symmetry.table",
                what,
                "give the multiplication table of a group with identity 0",
            ))
        };
        if order == 0 || order > usize::from(u16::MAX) || rows.iter().any(|row| row.len() != order) {
            return refuse("is empty, too large or not square".to_owned());
        }
        let table: Vec<u16> = rows.concat();
        if let Some(entry) = table.iter().find(|&&entry| usize::from(entry) >= order) {
            return refuse(format!("has the entry {entry}, but the elements are 0 to {}", order - 1));
        }
        if (0..order).any(|a| usize::from(table[a]) != a || usize::from(table[a * order]) != a) {
            return refuse("does not have element 0 as identity".to_owned());
        }
        for a in 0..order {
            let (mut row, mut column) = (vec![false; order], vec![false; order]);
            for b in 0..order {
                row[usize::from(table[a * order + b])] = true;
                column[usize::from(table[b * order + a])] = true;
            }
            if row.contains(&false) || column.contains(&false) {
                return refuse(format!("repeats an element in row or column {a}"));
            }
        }
        let times = |a: usize, b: usize| usize::from(table[a * order + b]);
        for a in 0..order {
            for b in 0..order {
                if let Some(c) = (0..order).find(|&c| times(times(a, b), c) != times(a, times(b, c))) {
                    return refuse(format!("is not associative for the elements {a}, {b}, {c}"));
                }
            }
        }
        Ok(Self::sealed(order, table, format!("group of order {order}")))
    }

    /// The group of a table that is valid by construction.
    pub(crate) fn of_sound_table(rows: &[Vec<u16>], name: String) -> Self {
        Self::sealed(rows.len(), rows.concat(), name)
    }

    /// The same group under another name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Returns `true` if a·b = b·a for all elements.
    #[cfg(test)]
    pub fn is_abelian(&self) -> bool {
        (0..self.order).all(|a| (0..a).all(|b| self.times(a, b) == self.times(b, a)))
    }

    fn sealed(order: usize, table: Vec<u16>, name: String) -> Self {
        let mut inverse = vec![0; order];
        for a in 0..order {
            for b in 0..order {
                if table[a * order + b] == 0 {
                    inverse[a] = b as u16;
                }
            }
        }
        Self { order, table, inverse, name }
    }

    /// Number of elements.
    pub const fn order(&self) -> usize {
        self.order
    }

    /// Returns the product a·b.
    pub fn times(&self, a: usize, b: usize) -> usize {
        usize::from(self.table[a * self.order + b])
    }

    /// Returns the inverse of a.
    pub fn inverse(&self, a: usize) -> usize {
        usize::from(self.inverse[a])
    }

    /// Name for people: `Z2 x Z2`, `D6`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the multiplication table, row by row.
    pub fn rows(&self) -> Vec<Vec<u16>> {
        self.table.chunks(self.order).map(<[u16]>::to_vec).collect()
    }
}

#[cfg(test)]
mod tests;
