//! Bounds on the throughput of an edited design, known long before its throughput is certified.

use super::mcf;
use crate::view::figures;
use lightbay_core::kind::Sense;
use lightbay_engines::tpu::model::pod::SWITCHES;
use lightbay_engines::tpu::model::topology::Topology;
use lightbay_engines::tpu::throughput::metrics;
use lightbay_sessions::compare::{TOLERANCE, change};
use lightbay_widgets::{Piece, Tone, number};

/// Pairs of lengths (electrical links, optical links) for which a bound is shown.
const LENGTHS: [(u32, u32); 2] = [(1, 2), (1, 3)];

/// Bounds of a design.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    /// Bound from the sum of the hops between all pairs of chips.
    pub hop_bound: f64,
    /// Mean number of hops between two chips.
    pub avg_hops: f64,
    /// Largest number of hops between two chips.
    pub diameter: u32,
    /// Each entry of `LENGTHS` with the bound from these lengths of electrical and optical links.
    pub two_length: Vec<((u32, u32), f64)>,
}

impl Live {
    /// Computes the bounds of a pod.
    ///
    /// # Errors
    /// A pod that is not connected.
    pub fn of(pod: &Topology) -> Result<Self, String> {
        let hops = metrics::hops(pod).ok_or("some chips cannot reach each other")?;
        let nodes = pod.nodes();
        let two_length = LENGTHS
            .into_iter()
            .filter_map(|lengths| Some((lengths, metrics::two_length(pod, lengths.0, lengths.1)?)))
            .collect();
        Ok(Self {
            hop_bound: metrics::hop_bound(nodes, hops.hop_sum),
            avg_hops: hops.hop_sum as f64 / (nodes as f64 * (nodes as f64 - 1.0)),
            diameter: hops.diameter,
            two_length,
        })
    }

    /// Computes the bounds of a pod with other voltages.
    ///
    /// # Errors
    /// A pod without symmetry, voltages that its group does not have, or a disconnected pod.
    pub fn edited(pod: &Topology, voltages: &[i64]) -> Result<Self, String> {
        let symmetry = pod.symmetry().ok_or("this pod has no voltages")?;
        let order = symmetry.group.order() as i64;
        let mut voltage = [0; SWITCHES];
        for (to, &from) in voltage.iter_mut().zip(voltages) {
            *to = u16::try_from(from)
                .ok()
                .filter(|_| from < order)
                .ok_or_else(|| format!("voltage {from} is not an element of the group"))?;
        }
        Self::of(&Topology::symmetric(symmetry.group.clone(), voltage))
    }

    /// Returns the smallest of the bounds, which is the tightest upper bound on the throughput.
    pub fn bound(&self) -> f64 {
        self.two_length.iter().map(|(_, bound)| *bound).fold(self.hop_bound, f64::min)
    }

    /// Returns the bounds as text, compared with the hop bound and the certified throughput of the original plan.
    pub fn pieces(&self, (before, certified): (f64, f64)) -> Vec<Piece> {
        let mut pieces = vec![
            Piece::muted("  hop bound "),
            Piece::answer(mcf(self.hop_bound)),
            Piece::text("  "),
            figures::change(&change(before, self.hop_bound, Some(Sense::Max), TOLERANCE)),
        ];
        if let Some(bound) = self.two_length.iter().map(|(_, bound)| *bound).reduce(f64::min) {
            pieces.push(Piece::muted("  length bound "));
            pieces.push(Piece::text(mcf(bound)));
        }
        pieces.push(Piece::muted("  avg hops "));
        pieces.push(Piece::text(number::fixed(self.avg_hops, 4)));
        if self.bound() < certified {
            pieces.push(Piece::new("  below the certified value of this plan", Tone::Bad));
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightbay_engines::tpu::model::group::Group;

    /// The evaluator vectors: abelian Z_C, voltage[o] = (o² + 3o + 1) mod C.
    fn vector(cubes: usize) -> Topology {
        let group = Group::abelian(&[cubes]).unwrap();
        Topology::symmetric(group, std::array::from_fn(|o| ((o * o + 3 * o + 1) % cubes) as u16))
    }

    #[test]
    fn bounds_are_those_of_the_evaluator_vectors() {
        let live = Live::of(&vector(4)).unwrap();
        assert_eq!(live.diameter, 7);
        assert!((live.avg_hops - 275_008.0 / (256.0 * 255.0)).abs() < 1e-12);
        assert!((live.hop_bound - 6.0 * 256.0 / 275_008.0).abs() < 1e-12);
        // Its certified throughput lies in [0.0052083, 0.0052101]: no bound may be below.
        assert!(live.bound() >= 0.005_208_3 && live.bound() <= live.hop_bound);
        assert_eq!(live.two_length.len(), LENGTHS.len());
    }

    #[test]
    fn an_edit_is_the_pod_with_other_voltages() {
        let pod = vector(4);
        let mut voltages: Vec<i64> = pod.symmetry().unwrap().voltage.iter().map(|&v| i64::from(v)).collect();
        assert_eq!(Live::edited(&pod, &voltages), Live::of(&pod));
        voltages[9] = (voltages[9] + 1) % 4;
        assert_ne!(Live::edited(&pod, &voltages), Live::of(&pod));
        voltages[9] = 4;
        assert!(Live::edited(&pod, &voltages).unwrap_err().contains("voltage 4"));
        let apart = Topology::symmetric(Group::most_square(4), [0; SWITCHES]);
        assert!(Live::of(&apart).unwrap_err().contains("cannot reach"));
    }
}
