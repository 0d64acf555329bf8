//! Candidate groups and symmetries for designs of a size; the tournament determines the best family.

mod extensions;

use super::ties::{self, Ties};
use crate::model::group::Group;
use crate::throughput::metrics::cuts::CubeSymmetry;
use lightbay_core::method::MethodError;
use lightbay_core::random::Stream;
use lightbay_core::watch::Watch;

/// Designs of one group that are invariant under a symmetry of the cube, or designs without such a symmetry.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// Description for people.
    pub name: String,
    /// Group by whose elements the cubes are numbered.
    pub group: Group,
    /// Voltages that move together.
    pub ties: Ties,
}

/// Symmetry of the cube that designs may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CubeSymmetries {
    /// Designs with each of the symmetries below are tried, and designs without symmetry.
    Any,
    /// No symmetry.
    Free,
    /// A third of a turn about a diagonal of the cube: X becomes Y, Y becomes Z, Z becomes X.
    Diagonal,
    /// Point reflection: exchanges chips that are opposite each other across the centre of the cube.
    Centre,
    /// Mirror: exchanges chips that are opposite each other across X.
    Mirror,
    /// Half a turn about Z.
    HalfTurn,
}

/// Maximum number of cyclic factors: in groups with more factors, many paths lead to the same few chips.
const MOST_FACTORS: usize = 3;
/// Maximum number of cubes for which designs without further symmetry are tried by default: with so few voltages, ties
/// do not make the search easier.
const FREE_UP_TO: usize = 8;
/// Minimum number of cubes for which groups without a name are tried as well, because smaller orders have few groups.
const DRAWN_FROM: usize = 24;
/// Maximum number of groups if groups without a name are tried: the first round of the tournament anneals every family
/// of every group.
const GROUPS: usize = 7;
/// Minimum number of cubes for which every named group with the third-turn symmetry is tried, regardless of its number
/// of involutions, because 16 voltages are much easier to optimise than 24.
const TURNED_FROM: usize = 64;
/// Number of automorphisms drawn for a symmetry of order 2. The automorphism that allows the most designs is kept; a
/// draw costs no annealing.
const PAIRINGS: usize = 12;

impl Family {
    /// Designs of a group without further symmetry.
    pub fn free(group: Group) -> Self {
        let ties = Ties::free(&group);
        Self { name: group.name().to_owned(), group, ties }
    }

    /// Designs that a third of a turn about a diagonal, followed by a random automorphism of order 3, maps onto
    /// themselves; `None` if no such automorphism was found.
    pub fn turning(group: Group, random: &mut Stream) -> Option<Self> {
        let automorphism = ties::automorphism(&group, 3, random)?;
        Some(Self::turned(group, automorphism, "turning"))
    }

    /// Designs that a third of a turn about a diagonal maps onto themselves, so that the three axes are wired equally.
    pub fn alike(group: Group) -> Self {
        let identity = (0..group.order() as u16).collect();
        Self::turned(group, identity, "alike")
    }

    /// Designs that a symmetry of the cube of order 2, followed by a random automorphism of order 2, maps onto
    /// themselves; `None` if no such automorphism was found.
    pub fn paired(group: &Group, symmetry: CubeSymmetry, word: &str, random: &mut Stream) -> Option<Self> {
        // Keeps the automorphism with the most designs, then with the fewest coinciding voltages.
        let draws = (0..PAIRINGS).filter_map(|_| {
            let automorphism = ties::automorphism(group, 2, random)?;
            Some(Ties::new(group, &[(symmetry, automorphism)]))
        });
        let ties = draws.reduce(|best, ties| {
            // For a mirror, most automorphisms leave few designs, so the number of designs decides first; ties are
            // broken by the number of coinciding voltages.
            let more = ties.bits() - best.bits();
            let better =
                if more.abs() > 1e-9 { more > 0.0 } else { ties.coincidences() < best.coincidences() };
            if better { ties } else { best }
        })?;
        let possible = ties.all().iter().all(|tie| !tie.choices.is_empty());
        possible.then(|| Self { name: format!("{} {word}", group.name()), group: group.clone(), ties })
    }

    fn turned(group: Group, automorphism: Vec<u16>, word: &str) -> Self {
        let ties = Ties::new(&group, &[(CubeSymmetry::diagonal(), automorphism)]);
        Self { name: format!("{} {word}", group.name()), group, ties }
    }
}

/// Number of automorphisms of order 3 drawn per group of more than 8 cubes; for fewer cubes, one is drawn.
/// Automorphisms of the same order fix different elements; each becomes a family to anneal.
const DRAWS: usize = 2;

/// Families of `cubes` cubes to try; if a group is given, only the families of this group.
///
/// # Errors
/// The error of the watch.
pub fn families<W: Watch>(
    cubes: usize,
    given: Option<&Group>,
    turns: CubeSymmetries,
    random: &mut Stream,
    watch: &mut W,
) -> Result<Vec<Family>, MethodError> {
    // Few groups exist for small orders. For DRAWN_FROM or more cubes there are many, so random ones are tried too.
    let groups = match given {
        Some(group) => vec![group.clone()],
        None if cubes >= DRAWN_FROM => {
            let mut groups = extensions::drawn(cubes, groups(cubes), random, watch)?;
            groups.truncate(GROUPS);
            groups
        }
        None => groups(cubes),
    };
    let mut found: Vec<Family> = Vec::new();
    for group in &groups {
        watch.checkpoint()?;
        let free = turns == CubeSymmetries::Free || (turns == CubeSymmetries::Any && cubes <= FREE_UP_TO);
        if free {
            found.push(Family::free(group.clone()));
        }
        if matches!(turns, CubeSymmetries::Any | CubeSymmetries::Diagonal) {
            add_turning(&mut found, group, if cubes <= FREE_UP_TO { 1 } else { DRAWS }, random);
            if cubes <= FREE_UP_TO || turns == CubeSymmetries::Diagonal {
                found.push(Family::alike(group.clone()));
            }
        }
        let pairings = [
            (CubeSymmetries::Centre, CubeSymmetry::centre(), "centred"),
            (CubeSymmetries::Mirror, CubeSymmetry::mirror(), "mirrored"),
            (CubeSymmetries::HalfTurn, CubeSymmetry::half_turn(), "half turned"),
        ];
        for (wanted, symmetry, word) in pairings {
            if turns == wanted || (turns == CubeSymmetries::Any && cubes >= DRAWN_FROM) {
                found.extend(Family::paired(group, symmetry, word, random));
                watch.checkpoint()?;
            }
        }
    }
    // With a third of a turn as symmetry, only 16 voltages remain, so this symmetry is tried with every named group, on
    // large pods only (see [`TURNED_FROM`]).
    if given.is_none()
        && cubes >= TURNED_FROM
        && matches!(turns, CubeSymmetries::Any | CubeSymmetries::Diagonal)
    {
        for group in self::groups(cubes) {
            add_turning(&mut found, &group, DRAWS, random);
            watch.checkpoint()?;
        }
    }
    if found.is_empty() {
        found.extend(groups.into_iter().map(Family::free));
    }
    Ok(found)
}

/// Adds families of a group that are invariant under a third of a turn.
fn add_turning(found: &mut Vec<Family>, group: &Group, draws: usize, random: &mut Stream) {
    for _ in 0..draws {
        if let Some(family) = Family::turning(group.clone(), random)
            && !found.contains(&family)
        {
            found.push(family);
        }
    }
}

/// Abelian groups with few factors, and extensions by Z3, which have an automorphism of order 3 that matches the turn
/// of the cube.
fn groups(order: usize) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut add = |group: Option<Group>| {
        if let Some(group) = group {
            groups.push(group);
        }
    };
    // Cyclic groups come last, because groups with several factors have more elements of small order.
    let mut lists = invariant_factors(order, 1);
    lists.sort_by_key(|factors| (factors.last().copied(), factors.len()));
    let few = |factors: &Vec<usize>| factors.len() <= MOST_FACTORS && (order < 8 || factors.len() > 1);
    let some = lists.iter().any(few);
    for factors in lists.iter().filter(|factors| few(factors) || !some) {
        add(Group::abelian(factors).ok());
    }
    // Semidirect products of (Z_side x Z_side) with Z3.
    for side in 2..=6 {
        if order.is_multiple_of(3 * side * side) && order / (3 * side * side) <= 4 {
            add(turned_square(side, order / (3 * side * side)));
        }
    }
    if order.is_multiple_of(24) && order / 24 <= 4 {
        add(binary_tetrahedral(order / 24));
    }
    groups
}

/// Lists of factors, each a multiple of the one before it, whose product is `order`: one for each abelian group.
fn invariant_factors(order: usize, least: usize) -> Vec<Vec<usize>> {
    if order == 1 {
        return vec![Vec::new()];
    }
    let mut lists = Vec::new();
    // Invariant factors (fundamental theorem of finite abelian groups): each divides the next.
    for first in (2..=order).filter(|first| order.is_multiple_of(*first) && first.is_multiple_of(least)) {
        for rest in invariant_factors(order / first, first) {
            let mut list = vec![first];
            list.extend(rest);
            lists.push(list);
        }
    }
    lists
}

/// The group ((Z_side x Z_side) : Z3) x Z_rest, in which Z3 acts on the plane Z_side x Z_side by a third of a turn.
fn turned_square(side: usize, rest: usize) -> Option<Group> {
    let order = 3 * side * side * rest;
    let turn = |mut at: (usize, usize), times: usize| {
        for _ in 0..times {
            at = ((side - at.1) % side, (at.0 + side - at.1) % side);
        }
        at
    };
    let parts = |e: usize| (e % side, e / side % side, e / (side * side) % 3, e / (3 * side * side));
    // Multiplication table of the semidirect product: the power of the first element acts on the plane part of the
    // second one.
    let rows: Vec<Vec<u16>> = (0..order)
        .map(|a| {
            let (x, y, turns, other) = parts(a);
            (0..order)
                .map(|b| {
                    let (u, v, more, another) = parts(b);
                    let (u, v) = turn((u, v), turns);
                    let plane = (x + u) % side + side * ((y + v) % side);
                    let above = (turns + more) % 3 + 3 * ((other + another) % rest);
                    (plane + side * side * above) as u16
                })
                .collect()
        })
        .collect();
    let times = if rest > 1 { format!(" x Z{rest}") } else { String::new() };
    Some(Group::from_table(&rows).ok()?.named(format!("Z{side}^2:Z3{times}")))
}

/// The binary tetrahedral group, 2 by 2 matrices of determinant 1 over three elements, times Z_rest.
fn binary_tetrahedral(rest: usize) -> Option<Group> {
    type Matrix = [usize; 4];
    let product = |a: Matrix, b: Matrix| -> Matrix {
        std::array::from_fn(|at| (a[at / 2 * 2] * b[at % 2] + a[at / 2 * 2 + 1] * b[2 + at % 2]) % 3)
    };
    let mut all: Vec<Matrix> = vec![[1, 0, 0, 1]];
    // The 24 matrices of determinant 1 over GF(3).
    for code in 0..81usize {
        let matrix = [code % 3, code / 3 % 3, code / 9 % 3, code / 27];
        if (matrix[0] * matrix[3] + 2 * matrix[1] * matrix[2]) % 3 == 1 && matrix != all[0] {
            all.push(matrix);
        }
    }
    let order = all.len() * rest;
    let rows: Option<Vec<Vec<u16>>> = (0..order)
        .map(|a| {
            (0..order)
                .map(|b| {
                    let matrix = product(all[a % all.len()], all[b % all.len()]);
                    let at = all.iter().position(|&other| other == matrix)?;
                    Some((at + all.len() * ((a / all.len() + b / all.len()) % rest)) as u16)
                })
                .collect()
        })
        .collect();
    let times = if rest > 1 { format!(" x Z{rest}") } else { String::new() };
    Some(Group::from_table(&rows?).ok()?.named(format!("SL(2,3){times}")))
}

#[cfg(test)]
mod tests;
