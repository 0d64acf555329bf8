//! Parses names of groups: Names of groups: `Z2 x Z4`, `D6`, `S3 x Z2`, `Z2^3`, or plain cyclic factors `2,2`.

use super::Group;
use crate::model::pod::MAX_CUBES;
use lightbay_core::problem::Problem;

/// Valid names of groups, for messages.
const KNOWN: &str = "cyclic factors such as 2,2, or a product such as 'Z2 x Z4' of Zn (cyclic), Dn (dihedral, 2n \
                     elements), Qn (dicyclic, n elements), Sn and An (permutations)";

impl Group {
    /// The group with a name: a product of `Zn`, `Dn` (2n elements), `Qn` (n elements, a multiple of 4), `Sn` and `An`
    /// (n up to 5) joined by `x` or `*`, each with an optional power (`Z2^3`); or cyclic factors joined by commas. In a
    /// product, element `i + a * j` is the pair of element i of the first group, of order a, and element j of the
    /// second.
    ///
    /// # Errors
    /// An invalid name, or a group with more elements than a pod can have cubes.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let refuse = |what: String| Problem::new("group", what, format!("give {KNOWN}"));
        let plain: String = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '[' | ']')).collect();
        if plain.starts_with(|c: char| c.is_ascii_digit()) {
            let factors: Option<Vec<usize>> =
                plain.split([',', 'x', '*']).map(|factor| factor.parse().ok()).collect();
            let factors =
                factors.ok_or_else(|| refuse(format!("'{text}' is not a list of cyclic factors")))?;
            let group = Self::abelian(&factors)?;
            return if group.order <= MAX_CUBES { Ok(group) } else { Err(too_large(text)) };
        }
        let mut product: Option<Self> = None;
        for part in plain.split(['x', 'X', '*', '×', ',']) {
            let (name, power) = match part.split_once('^') {
                None => (part, Some(1)),
                Some((name, power)) => (name, power.parse::<usize>().ok().filter(|p| (1..=8).contains(p))),
            };
            let family = name.chars().next().map(|c| c.to_ascii_uppercase());
            let rest = name.get(family.map_or(0, char::len_utf8)..).unwrap_or_default();
            let size = rest.trim_start_matches('_').parse::<usize>().ok();
            let (Some(family), Some(size), Some(power)) = (family, size, power) else {
                return Err(refuse(format!("'{text}' is not a group")));
            };
            if size > MAX_CUBES {
                return Err(too_large(text));
            }
            let group = match (family, size) {
                ('Z' | 'C', 1..) => Self::abelian(&[size])?,
                ('D', 1..) => Self::dihedral(size)?,
                ('Q', 4..) if size.is_multiple_of(4) => dicyclic(size),
                ('S', 1..=5) => permutations(size, false),
                ('A', 1..=5) => permutations(size, true),
                _ => return Err(refuse(format!("'{part}' of '{text}' is not a group"))),
            };
            for _ in 0..power {
                let next = match &product {
                    None => group.clone(),
                    Some(left) => left.product(&group).ok_or_else(|| too_large(text))?,
                };
                product = Some(next);
            }
        }
        product.filter(|group| group.order <= MAX_CUBES).ok_or_else(|| too_large(text))
    }

    /// Returns the direct product of this group and `other`; `None` if it has more elements than a pod can have cubes.
    fn product(&self, other: &Self) -> Option<Self> {
        let order = self.order * other.order;
        if order > MAX_CUBES {
            return None;
        }
        let times = |a: usize, b: usize| {
            let (i, j) =
                (self.times(a % self.order, b % self.order), other.times(a / self.order, b / self.order));
            (i + self.order * j) as u16
        };
        let table = (0..order * order).map(|at| times(at / order, at % order)).collect();
        let name = match (self.order, other.order) {
            (1, _) => other.name.clone(),
            (_, 1) => self.name.clone(),
            _ => format!("{} x {}", self.name, other.name),
        };
        Some(Self::sealed(order, table, name))
    }
}

fn too_large(text: &str) -> Problem {
    Problem::new(
        "group",
        format!("'{text}' has more than {MAX_CUBES} elements"),
        "give a group with as many elements as there are cubes",
    )
}

/// The dicyclic group of `order` elements: a^k, then a^k·b, with b² = a^(order/4) and b·a = a⁻¹·b.
fn dicyclic(order: usize) -> Group {
    let turn = order / 2;
    let product = |x: usize, y: usize| {
        let (p, q, b, c) = (x % turn, y % turn, x / turn, y / turn);
        let power = match (b, c) {
            (0, _) => p + q,
            (_, 0) => p + turn - q,
            _ => p + turn - q + turn / 2,
        };
        (power % turn + turn * (b ^ c)) as u16
    };
    let table = (0..order * order).map(|at| product(at / order, at % order)).collect();
    Group::sealed(order, table, format!("Q{order}"))
}

/// All (or all even) permutations of `letters` letters, in lexicographic order; a·b applies b first.
fn permutations(letters: usize, even: bool) -> Group {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..letters {
        all = all
            .into_iter()
            .flat_map(|start| {
                (0..letters)
                    .filter(|next| !start.contains(next))
                    .map(|next| {
                        let mut longer = start.clone();
                        longer.push(next);
                        longer
                    })
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    let inversions =
        |p: &[usize]| (0..p.len()).map(|i| (0..i).filter(|&j| p[j] > p[i]).count()).sum::<usize>();
    all.retain(|p| !even || inversions(p).is_multiple_of(2));
    let order = all.len();
    let product = |a: usize, b: usize| {
        let applied: Vec<usize> = all[b].iter().map(|&letter| all[a][letter]).collect();
        all.binary_search(&applied).unwrap_or(0) as u16
    };
    let table = (0..order * order).map(|at| product(at / order, at % order)).collect();
    Group::sealed(order, table, format!("{}{letters}", if even { 'A' } else { 'S' }))
}
