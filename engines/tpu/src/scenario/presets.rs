//! Built-in pods, by name: `tpu-256` to be designed, `pt-4x8x8` and `pdtt-4x8x8` as baselines, `tpu-random-256` with
//! given wiring.
//!
//! The list contains the common pods; [`scenario`] builds every member of these families.

use crate::model::baselines;
use crate::model::group::Group;
use crate::model::pod::SWITCHES;
use crate::model::topology::Topology;
use crate::plan::TopologyRecord;
use crate::scenario::{TopologyChoice, TpuScenario};
use lightbay_core::listed::Preset;
use lightbay_core::random::Streams;
use rand::RngExt;

/// The common pods by family, designs first; each family in ascending order of size.
pub const PODS: &[Preset] = &[
    Preset::new("tpu-64", "one cube of 64 chips; its only design is the 4x4x4 torus"),
    Preset::new("tpu-128", "128 chips in 2 cubes, topology to be designed"),
    Preset::new("tpu-192", "192 chips in 3 cubes, topology to be designed"),
    Preset::new("tpu-256", "256 chips in 4 cubes, topology to be designed"),
    Preset::new("tpu-384", "384 chips in 6 cubes, topology to be designed"),
    Preset::new("tpu-512", "512 chips in 8 cubes, topology to be designed"),
    Preset::new("tpu-768", "768 chips in 12 cubes, topology to be designed"),
    Preset::new("tpu-1024", "1024 chips in 16 cubes, topology to be designed"),
    Preset::new("tpu-1536", "1536 chips in 24 cubes, topology to be designed"),
    Preset::new("tpu-2048", "2048 chips in 32 cubes, topology to be designed"),
    Preset::new("tpu-3072", "3072 chips in 48 cubes, topology to be designed"),
    Preset::new("tpu-4096", "4096 chips in 64 cubes, topology to be designed"),
    Preset::new("tpu-6144", "6144 chips in 96 cubes, topology to be designed"),
    Preset::new("tpu-8192", "8192 chips in 128 cubes, topology to be designed"),
    Preset::new("pt-4x4x8", "prismatic torus of 128 chips"),
    Preset::new("pt-4x4x12", "prismatic torus of 192 chips"),
    Preset::new("pt-4x8x8", "prismatic torus of 256 chips"),
    Preset::new("pt-4x4x16", "long prismatic torus of 256 chips"),
    Preset::new("pt-4x8x12", "prismatic torus of 384 chips"),
    Preset::new("pt-8x8x8", "prismatic torus of 512 chips"),
    Preset::new("pt-4x8x16", "prismatic torus of 512 chips in unequal sides"),
    Preset::new("pt-4x4x32", "long prismatic torus of 512 chips"),
    Preset::new("pt-8x8x12", "prismatic torus of 768 chips"),
    Preset::new("pt-8x8x16", "prismatic torus of 1024 chips"),
    Preset::new("pt-4x16x16", "flat prismatic torus of 1024 chips"),
    Preset::new("pt-4x4x64", "long prismatic torus of 1024 chips"),
    Preset::new("pt-8x12x16", "prismatic torus of 1536 chips"),
    Preset::new("pt-8x8x24", "long prismatic torus of 1536 chips"),
    Preset::new("pt-8x16x16", "prismatic torus of 2048 chips"),
    Preset::new("pt-12x16x16", "prismatic torus of 3072 chips"),
    Preset::new("pt-16x16x16", "prismatic torus of 4096 chips"),
    Preset::new("pt-16x16x24", "prismatic torus of 6144 chips"),
    Preset::new("pt-16x16x32", "prismatic torus of 8192 chips"),
    Preset::new("pdtt-4x4x8", "doubly twisted torus of 128 chips"),
    Preset::new("pdtt-4x8x8", "doubly twisted torus of 256 chips"),
    Preset::new("pdtt-8x8x16", "doubly twisted torus of 1024 chips"),
    Preset::new("pdtt-8x16x16", "doubly twisted torus of 2048 chips"),
    Preset::new("pdtt-16x16x32", "doubly twisted torus of 8192 chips"),
    Preset::new("tpu-random-256", "256 chips with random voltages: a random baseline"),
];

/// The scenario called `name`: one of [`PODS`], or another size or shape of the same families (`tpu-320`,
/// `pt-8x12x12`, `pdtt-12x12x24`, `tpu-random-512`).
pub fn scenario(name: &str) -> Option<TpuScenario> {
    if let Some(chips) = name.strip_prefix("tpu-random-") {
        let cubes = baselines::cubes_of(chips.parse().ok()?)?;
        return Some(given(&random(cubes)));
    }
    if let Some(chips) = name.strip_prefix("tpu-") {
        let cubes = baselines::cubes_of(chips.parse().ok()?)?;
        return Some(TpuScenario::design(cubes as u16));
    }
    let (topology, sides) = if let Some(sides) = name.strip_prefix("pt-") {
        (TopologyChoice::Pt, sides)
    } else {
        (TopologyChoice::Pdtt, name.strip_prefix("pdtt-")?)
    };
    let sides: Option<Vec<u16>> = sides.split('x').map(|side| side.parse().ok()).collect();
    let shape: [u16; 3] = sides?.try_into().ok()?;
    let cubes: usize = baselines::grid(shape).ok()?.iter().product();
    let mut scenario = TpuScenario::design(cubes as u16);
    scenario.topology = topology;
    scenario.job_shape = Some(shape);
    scenario.validate().ok()?;
    Some(scenario)
}

/// Returns the scenario of a pod with exactly this wiring.
pub fn given(pod: &Topology) -> TpuScenario {
    let mut scenario = TpuScenario::design(pod.cubes() as u16);
    scenario.topology = TopologyChoice::Given(TopologyRecord::of(pod));
    scenario
}

/// A symmetric pod with random voltages that are fixed for each size.
fn random(cubes: usize) -> Topology {
    let mut stream = Streams::new(1).stream(cubes as u64);
    let voltage: [u16; SWITCHES] = std::array::from_fn(|_| stream.random_range(0..cubes) as u16);
    Topology::symmetric(Group::most_square(cubes), voltage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_a_valid_scenario_of_its_size() {
        for preset in PODS {
            let scenario = scenario(preset.name).unwrap_or_else(|| panic!("{}", preset.name));
            scenario.validate().unwrap_or_else(|problems| panic!("{}: {problems}", preset.name));
            scenario.named_topology().unwrap();
            let chips = preset.help.split_whitespace().find_map(|word| word.parse::<usize>().ok());
            assert_eq!(Some(scenario.nodes()), chips, "{}", preset.name);
        }
    }

    #[test]
    fn other_sizes_and_shapes_of_a_family_can_be_named() {
        assert_eq!(scenario("tpu-320").map(|s| s.cubes), Some(5));
        assert_eq!(scenario("pdtt-12x12x24").map(|s| s.cubes), Some(54));
        assert_eq!(scenario("pt-8x12x12").map(|s| s.cubes), Some(18));
        let refused =
            ["tpu-100", "tpu-0", "pdtt-8x8x8", "pt-4x4", "pt-4x4x6", "tpu-99999", "pt-64x64x64", "x"];
        assert!(refused.iter().all(|name| scenario(name).is_none()));
    }
}
