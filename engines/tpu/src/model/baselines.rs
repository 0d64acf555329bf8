//! The tori that a designed pod is compared with: prismatic (PT) and prismatic doubly twisted (PDTT).
//!
//! Both tori are symmetric pods: the cubes are numbered by the group of the torus, and all 16 switches of a dimension
//! have the same voltage (group element).

use crate::model::group::Group;
use crate::model::pod::{CHIPS, MAX_CUBES, SWITCHES, switch_dimension};
use crate::model::topology::Topology;
use lightbay_core::problem::Problem;

/// Number of chips along an edge of a cube.
const EDGE: u16 = 4;

/// The cubes along X, Y, Z of a job shape.
///
/// # Errors
/// A side that is not a positive multiple of 4, or more cubes than a pod can have.
pub fn grid(shape: [u16; 3]) -> Result<[usize; 3], Problem> {
    let refuse = |what: &str, remedy: String| {
        Err(Problem::new("job_shape", format!("{} {what}", named(shape)), remedy))
    };
    if shape.iter().any(|&side| side == 0 || side % EDGE != 0) {
        let near = shape.map(|side| (side.div_ceil(EDGE) * EDGE).max(EDGE));
        return refuse(
            "has a side that is not a multiple of 4, the edge of a cube",
            format!("give multiples of 4, such as {}", named(near)),
        );
    }
    let grid = shape.map(|side| usize::from(side / EDGE));
    if grid.iter().try_fold(1usize, |cubes, &side| cubes.checked_mul(side)).is_none_or(|c| c > MAX_CUBES) {
        return refuse(
            "has too many cubes",
            format!("a pod has at most {MAX_CUBES} cubes of 64 chips, such as 16x16x32"),
        );
    }
    Ok(grid)
}

/// A shape as text: `4x8x8`.
pub fn named(shape: [u16; 3]) -> String {
    format!("{}x{}x{}", shape[0], shape[1], shape[2])
}

/// The prismatic torus of a job shape (X, Y, Z chips): a plain wrap in every dimension.
///
/// # Errors
/// As for [`grid`].
pub fn pt(shape: [u16; 3]) -> Result<Topology, Problem> {
    let grid = grid(shape)?;
    let name = grid.map(|side| side.to_string()).join("x");
    Ok(torus(grid, [[0; 3]; 3], format!("torus {name}")))
}

/// The prismatic doubly twisted torus of a job shape n x n x 2n or n x 2n x 2n, in any order of the axes: the wrap of a
/// short dimension also shifts by n in every long dimension.
///
/// # Errors
/// As for [`grid`], or a shape for which the doubly twisted torus is not defined.
pub fn pdtt(shape: [u16; 3]) -> Result<Topology, Problem> {
    let grid = grid(shape)?;
    let short = grid[0].min(grid[1]).min(grid[2]);
    if !is_pdtt(shape) {
        return Err(Problem::new(
            "job_shape",
            format!("a doubly twisted torus is not defined for {}", named(shape)),
            format!("use 'pt', the plain torus, or a shape n x n x 2n or n x 2n x 2n{}", offer(shape)),
        ));
    }
    let twist = grid.map(|side| if side > short { short } else { 0 });
    let wraps = grid.map(|side| if side > short { [0; 3] } else { twist });
    let name = grid.map(|side| side.to_string()).join("x");
    Ok(torus(grid, wraps, format!("twisted torus {name}")))
}

fn offer(shape: [u16; 3]) -> String {
    let cubes = shape.iter().map(|&side| usize::from(side / EDGE)).product();
    usual_pdtt(cubes).map_or_else(String::new, |shape| format!(", such as {} for this size", named(shape)))
}

/// Returns `true` if the doubly twisted torus is defined for a shape: n x n x 2n or n x 2n x 2n in any order.
pub fn is_pdtt(shape: [u16; 3]) -> bool {
    let mut sides = shape;
    sides.sort_unstable();
    let [short, middle, long] = sides;
    short > 0 && u32::from(long) == 2 * u32::from(short) && (middle == short || middle == long)
}

/// A torus whose group is Z³ modulo its wraps: crossing the end of dimension d adds `wraps[d]`, in cubes.
fn torus(grid: [usize; 3], wraps: [[usize; 3]; 3], name: String) -> Topology {
    let cubes: usize = grid.iter().product();
    let place = |cube: usize| [cube % grid[0], cube / grid[0] % grid[1], cube / (grid[0] * grid[1])];
    let number = |at: [usize; 3]| at[0] + grid[0] * (at[1] + grid[1] * at[2]);
    let add = |a: usize, b: usize| {
        let (a, b) = (place(a), place(b));
        let mut sum = [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
        // The wrap of a short dimension shifts the long ones, which wrap without a shift, so short dimensions must come
        // first.
        for twisted in [true, false] {
            for axis in (0..3).filter(|&axis| (wraps[axis] != [0; 3]) == twisted) {
                let times = sum[axis] / grid[axis];
                sum[axis] %= grid[axis];
                for (other, step) in wraps[axis].iter().enumerate() {
                    sum[other] += times * step;
                }
            }
        }
        number(sum) as u16
    };
    let rows: Vec<Vec<u16>> = (0..cubes).map(|a| (0..cubes).map(|b| add(a, b)).collect()).collect();
    let step = |axis: usize| {
        if grid[axis] > 1 {
            let mut unit = [0; 3];
            unit[axis] = 1;
            number(unit) as u16
        } else {
            number(wraps[axis]) as u16
        }
    };
    let steps = [step(0), step(1), step(2)];
    let voltage: [u16; SWITCHES] = std::array::from_fn(|switch| steps[switch_dimension(switch)]);
    Topology::symmetric(Group::of_sound_table(&rows, name), voltage)
}

/// MCF of the prismatic torus, flits per cycle and ordered pair: 8 / (n k) for n chips and longest side k; two planes
/// across the longest side are the tightest cut.
pub fn pt_mcf(shape: [u16; 3]) -> f64 {
    let chips: f64 = shape.iter().map(|&side| f64::from(side)).product();
    let longest = shape.iter().copied().max().unwrap_or(1);
    8.0 / (chips * f64::from(longest))
}

/// The default job shape for a number of cubes: the shape with the shortest longest side; among these shapes, the one
/// with the longest shortest side. Sides are in ascending order.
pub fn usual_shape(cubes: usize) -> [u16; 3] {
    let mut best = [1, 1, cubes];
    for a in (1..=cubes).filter(|a| cubes.is_multiple_of(*a)) {
        let rest = cubes / a;
        for b in (a..=rest).filter(|b| rest.is_multiple_of(*b)) {
            let c = rest / b;
            if c >= b && (c, cubes - a) < (best[2], cubes - best[0]) {
                best = [a, b, c];
            }
        }
    }
    best.map(|side| EDGE * side as u16)
}

/// The job shape of the doubly twisted torus of a number of cubes, if there is one: n x n x 2n or n x 2n x 2n.
pub fn usual_pdtt(cubes: usize) -> Option<[u16; 3]> {
    (1..=cubes).take_while(|n| 2 * n * n * n <= cubes).find_map(|n| {
        let side = EDGE * n as u16;
        if 2 * n * n * n == cubes {
            Some([side, side, 2 * side])
        } else if 4 * n * n * n == cubes {
            Some([side, 2 * side, 2 * side])
        } else {
            None
        }
    })
}

/// Number of chips of a job shape.
pub fn chips(shape: [u16; 3]) -> usize {
    shape.iter().map(|&side| usize::from(side)).product()
}

/// Number of cubes of a pod of `chips` chips; `None` if a pod cannot have this number of chips.
pub fn cubes_of(chips: usize) -> Option<usize> {
    (chips.is_multiple_of(CHIPS) && (1..=MAX_CUBES).contains(&(chips / CHIPS))).then_some(chips / CHIPS)
}

#[cfg(test)]
mod tests;
