use super::program::{PodProgram, PodProgramRequest};
use super::relaxation::{RelaxationSettings, all, relax};
use crate::model::group::Group;
use crate::model::topology::Topology;
use crate::throughput::mcf;
use lightbay_core::context::Stop;
use lightbay_core::event::EventBody;
use lightbay_core::method::MethodError;
use lightbay_core::watch::{Unwatched, Watch};
use lightbay_highs::instance::solve_here;
use lightbay_highs::options::Options;
use lightbay_highs::solution::Start;

#[test]
fn the_relaxation_with_every_switch_fixed_is_the_flow_of_that_pod() {
    let group = Group::abelian(&[2]).unwrap();
    let voltage: [u16; 48] = std::array::from_fn(|o| ((o * o + 3 * o + 1) % 2) as u16);
    let fixed = voltage.iter().map(|g| vec![*g]).collect();
    let settings = RelaxationSettings { gap: 1e-3, max_rounds: 200 };
    let relaxed = relax(&group, &fixed, settings, &mut Unwatched::default(), |_, _, _| ()).unwrap();
    let pod = Topology::symmetric(group, voltage);
    let known = mcf::certify(&pod, &mcf::FlowSettings::default(), None, &mut Unwatched::default()).unwrap();
    assert!(relaxed.lower <= known.upper && relaxed.upper >= known.lower, "{relaxed:?} {known:?}");
    assert!(relaxed.upper <= relaxed.lower * 1.001);
}

#[test]
fn the_relaxation_of_two_cubes_is_the_known_bound() {
    let group = Group::abelian(&[2]).unwrap();
    let settings = RelaxationSettings { gap: 1e-3, max_rounds: 200 };
    let relaxed = relax(&group, &all(&group), settings, &mut Unwatched::default(), |_, _, _| ()).unwrap();
    assert!(relaxed.lower <= 0.0144235 && relaxed.upper >= 0.0144225, "{relaxed:?}");
    assert!(relaxed.upper <= relaxed.lower * 1.001, "{relaxed:?}");
    for shares in &relaxed.shares {
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}

fn written(group: &Group, tolerated_faults: u8) -> PodProgram {
    PodProgram::new(PodProgramRequest { group, tolerated_faults, whole: true }, &mut Unwatched::default())
        .unwrap()
}

#[test]
fn the_model_has_the_size_that_counting_gives() {
    let group = Group::abelian(&[2]).unwrap();
    let program = written(&group, 0);
    let size = program.model().size();
    // 288 electrical and 192 optical arcs leave a cube, each detours pairs with 126 other ends.
    assert_eq!(size.columns, 1 + 96 + 480 * 126);
    assert_eq!(size.rows, 48 + 4096);
    assert_eq!(size.integers, 96);
    assert_eq!(program.model().lower[0], 0.0);
    // C8: two switches around a cube.
    assert_eq!(written(&group, 1).model().lower[0], 2.0 / (32.0 * 64.0));
}

#[test]
fn fixed_circuits_make_the_model_the_flow_of_the_pod() {
    // One cube: the torus of 64 chips, whose flow is 8 / (64 · 4).
    let program = written(&Group::abelian(&[1]).unwrap(), 0);
    let model = program.fixed(&[0; 48]);
    let options = Options::new().set("solver", "ipx").set("run_crossover", "off");
    let solution =
        solve_here(&model, &options, &Start::None, &mut lightbay_highs::event::NoListener).unwrap();
    assert!((solution.objective.unwrap() - 0.03125).abs() < 1e-7, "{:?}", solution.objective);
}

#[test]
fn circuits_go_into_the_model_and_come_back() {
    let group = Group::abelian(&[3]).unwrap();
    let program = written(&group, 0);
    let voltage: [u16; 48] = std::array::from_fn(|o| (o * o % 3) as u16);
    let mut point = vec![0.0; program.model().columns()];
    for (column, value) in program.design(&voltage) {
        point[column as usize] = value;
    }
    assert_eq!(program.voltages(&point), voltage);
    // No flow at all is feasible.
    assert_eq!(program.model().first_broken(&point, 1e-9), None);
    point[0] = 1e-3;
    assert!(program.model().first_broken(&point, 1e-9).unwrap().name.starts_with("pair_"));
}

/// Stops at a checkpoint, and counts the checkpoints until then.
struct Patience {
    checkpoints: u64,
    stops_at: u64,
}

impl Watch for Patience {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        self.checkpoints += 1;
        if self.checkpoints == self.stops_at { Err(Stop::Requested.into()) } else { Ok(()) }
    }

    fn report(&mut self, _body: EventBody) {}

    fn count(&mut self, _units: u64) {}

    fn elapsed_s(&self) -> f64 {
        0.0
    }

    fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        Box::new(|| false)
    }
}

#[test]
fn a_stop_while_the_model_is_written_ends_it_at_once() {
    let group = Group::abelian(&[2]).unwrap();
    let ask = PodProgramRequest { group: &group, tolerated_faults: 0, whole: true };
    let write = |stops_at: u64| {
        let mut watch = Patience { checkpoints: 0, stops_at };
        let written = PodProgram::new(ask, &mut watch);
        (written.map(|program| program.model().size().rows), watch.checkpoints)
    };
    // 480 links leave a cube; each is a question, and so are every 64 of the 4096 rows of pairs.
    let (rows, all) = write(u64::MAX);
    assert_eq!((rows.unwrap(), all), (48 + 4096, 480 + 64));
    for stops_at in [1, 2, 240, 481, all] {
        let (written, checkpoints) = write(stops_at);
        assert!(matches!(written, Err(MethodError::Stopped(Stop::Requested))), "{stops_at}");
        assert_eq!(checkpoints, stops_at);
    }
}
