//! Groups by random cyclic extensions: every solvable group has a chain of subgroups, each normal in the next with a
//! factor of prime order, so every solvable group can occur. Most groups of an order are far from abelian, and in pods
//! of such groups fewer different paths lead to the same chip.

use super::super::ties;
use crate::model::group::Group;
use lightbay_core::method::MethodError;
use lightbay_core::random::Stream;
use lightbay_core::watch::Watch;
use rand::RngExt;

/// Number of random groups drawn. Many of these groups are skipped, because a group with the same invariants
/// ([`Profile`]) is already in the list. The caller uses the first few groups of the list.
const DRAWS: usize = 120;

/// Known and random groups of an order, one group for each [`Profile`]. Groups with the fewest involutions come first,
/// because a switch that is set to an involution joins the same two cubes twice.
pub(super) fn drawn<W: Watch>(
    order: usize,
    known: Vec<Group>,
    random: &mut Stream,
    watch: &mut W,
) -> Result<Vec<Group>, MethodError> {
    let mut found: Vec<(Profile, Group)> = Vec::new();
    let mut add = |profile: Profile, group: Group| {
        if found.iter().all(|(known, _)| *known != profile) {
            found.push((profile, group));
        }
    };
    for group in known.into_iter().chain(Group::abelian(&[order])) {
        add(Profile::of(&group), group);
    }
    for _ in 0..DRAWS {
        watch.checkpoint()?;
        let group = draw(order, random);
        let profile = Profile::of(&group);
        let name = profile.name(order);
        add(profile, group.named(name));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found.into_iter().map(|(_, group)| group).collect())
}

/// Invariants that distinguish most groups of an order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Profile {
    involutions: usize,
    /// Number of classes of conjugate elements.
    classes: usize,
    /// Number of elements of the centre.
    centre: usize,
    /// Pairs of an order and the number of elements of this order, sorted by order.
    orders: Vec<(usize, usize)>,
}

// Invariants under isomorphism: equal groups have equal profiles; different ones may too, and count once.
impl Profile {
    fn of(group: &Group) -> Self {
        let order = group.order();
        let commute = |a: usize, b: usize| group.times(a, b) == group.times(b, a);
        let mut orders: Vec<(usize, usize)> = Vec::new();
        let mut all: Vec<usize> = (0..order).map(|element| ties::order_of(group, element)).collect();
        all.sort_unstable();
        for of in all {
            match orders.last_mut() {
                Some((last, count)) if *last == of => *count += 1,
                _ => orders.push((of, 1)),
            }
        }
        let commuting = (0..order * order).filter(|&at| commute(at / order, at % order)).count();
        // The number of commuting pairs divided by the order is the number of conjugacy classes (Burnside).
        Self {
            involutions: orders.iter().find(|(of, _)| *of == 2).map_or(0, |(_, count)| *count),
            classes: commuting / order,
            centre: (0..order).filter(|&a| (0..order).all(|b| commute(a, b))).count(),
            orders,
        }
    }

    /// A name from order, classes, centre and involutions, because most groups have no common name.
    fn name(&self, order: usize) -> String {
        format!("G{order}/{}/{}/{}", self.classes, self.centre, self.involutions)
    }
}

/// A random solvable group.
fn draw(order: usize, random: &mut Stream) -> Group {
    let mut primes = Vec::new();
    let (mut rest, mut prime) = (order, 2);
    while rest > 1 {
        // Prime factors of the order, in random order: the factors of the chain of subgroups.
        while rest.is_multiple_of(prime) {
            primes.push(prime);
            rest /= prime;
        }
        prime += 1;
    }
    for at in (1..primes.len()).rev() {
        primes.swap(at, random.random_range(0..=at));
    }
    let mut group = Group::most_square(1);
    for prime in primes {
        group = extended(&group, prime, random);
    }
    group
}

/// A group with a given normal subgroup N and a factor of prime order: elements n·tⁱ, where t acts on N by an
/// automorphism σ and tᵖ is an element z of N; σ must fix z, and σᵖ must be the conjugation by z.
fn extended(inner: &Group, prime: usize, random: &mut Stream) -> Group {
    let order = inner.order();
    let identity: Vec<u16> = (0..order as u16).collect();
    let then = |a: &[u16], b: &[u16]| -> Vec<u16> { a.iter().map(|&e| b[usize::from(e)]).collect() };
    let power = |map: &[u16], times: usize| (0..times).fold(identity.clone(), |power, _| then(&power, map));
    // Only automorphisms whose order is a power of the prime are suitable for the extension. So a random automorphism
    // is raised to a power whose order is a power of the prime.
    let mut sigma = ties::any_automorphism(inner, random).unwrap_or_else(|| identity.clone());
    let mut turns = ties::turns(&sigma);
    while turns.is_multiple_of(prime) {
        turns /= prime;
    }
    sigma = power(&sigma, turns);
    // The conditions of a cyclic extension: sigma fixes z, and sigma^p is conjugation by z.
    let fits = |sigma: &[u16]| -> Vec<usize> {
        let whole = power(sigma, prime);
        let conjugates =
            |z: usize, e: usize| inner.times(inner.times(z, e), inner.inverse(z)) == usize::from(whole[e]);
        (0..order).filter(|&z| usize::from(sigma[z]) == z && (0..order).all(|e| conjugates(z, e))).collect()
    };
    // The identity is always valid, and a power of every automorphism is the identity.
    let mut choices = fits(&sigma);
    while choices.is_empty() {
        sigma = power(&sigma, prime);
        choices = fits(&sigma);
    }
    let z = choices[random.random_range(0..choices.len())];
    let powers: Vec<Vec<u16>> = (0..prime).map(|times| power(&sigma, times)).collect();
    // Elements n t^i: products are moved into this form by the relations of t.
    let rows: Vec<Vec<u16>> = (0..order * prime)
        .map(|a| {
            (0..order * prime)
                .map(|b| {
                    let (x, i, y, j) = (a % order, a / order, b % order, b / order);
                    let product = inner.times(x, usize::from(powers[i][y]));
                    let product = if i + j >= prime { inner.times(product, z) } else { product };
                    (product + order * ((i + j) % prime)) as u16
                })
                .collect()
        })
        .collect();
    Group::of_sound_table(&rows, String::new())
}

#[cfg(test)]
mod tests;
