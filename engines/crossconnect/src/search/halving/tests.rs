use super::*;
use crate::programs::exact::{ExactProgram, Orientation};
use crate::scenario::Family;
use crate::scenario::presets;
use crate::search::orient::orient;
use lightbay_core::random::{Stream, Streams};
use lightbay_core::watch::Unwatched;
use lightbay_highs::instance::solve_here;
use lightbay_highs::options::Options;
use lightbay_highs::solution::Start;
use proptest::prelude::*;
use rand::RngExt;

const USUAL: HalvingSettings = HalvingSettings { bipartition: Bipartition::EvenOdd, preference: None };

fn solved(task: &Task, settings: HalvingSettings, watch: &mut impl Watch) -> Result<Assignment, Failure> {
    let all: Vec<usize> = (0..task.ocs_count).collect();
    let demand = orient(task, &all, &task.wanted, Preference::none(), watch)?;
    halve(task, demand, all, settings, watch)
}

fn family(pods: usize, ocs: usize, changed_percent: u32, instance_seed: u64) -> Task {
    Task::of(&presets::random(pods, ocs, Family { changed_percent, instance_seed }))
}

#[test]
fn the_worked_example_takes_two_removals() {
    let task = Task::of(&presets::scenario("crossconnect-example").unwrap());
    let found = solved(&task, USUAL, &mut Unwatched::default()).unwrap();
    assert_eq!(task.misfit(&found), None);
    assert_eq!(task.removed(&found), 2);
}

#[test]
fn the_worked_split_takes_the_forced_removal_only() {
    let table = |rows: [[u32; 3]; 3]| {
        let cells = (0u32..)
            .zip(rows)
            .flat_map(|(a, row)| (0u32..).zip(row).map(move |(b, count)| Cell { a, b, count }));
        merged(cells)
    };
    let task = Task {
        pods: 3,
        ocs_count: 2,
        ports_a: vec![vec![2; 3]; 2],
        ports_b: vec![vec![2; 3]; 2],
        lost: Vec::new(),
        wanted: Vec::new(),
        installed: Assignment {
            ocs: vec![table([[0, 2, 0], [0, 0, 1], [1, 0, 0]]), table([[0, 1, 1], [1, 0, 0], [0, 1, 0]])],
        },
        pinned: Assignment { ocs: vec![Vec::new(); 2] },
        single_sided: false,
        uniform: true,
    };
    let demand = table([[0, 2, 1], [1, 0, 1], [1, 1, 0]]);
    let (first, second) = (Part::of(&task, &[0]), Part::of(&task, &[1]));
    let (here, there) = split(&task, &demand, &first, &second, Preference::none(), &mut || Ok(())).unwrap();
    assert_eq!(merged(here.iter().chain(&there).copied()), demand);
    assert_eq!(task.removed(&Assignment { ocs: vec![here, there] }), 1);
}

#[test]
fn bipartitions_split_as_they_are_called() {
    let task = family(4, 5, 25, 1);
    let all = [0, 1, 2, 3, 4];
    assert_eq!(Bipartition::EvenOdd.split(&task, &all), (vec![0, 2, 4], vec![1, 3]));
    assert_eq!(Bipartition::Contiguous.split(&task, &all[..3]), (vec![0, 1], vec![2]));
    let mut task = task;
    for switch in [1, 4] {
        task.ports_a[switch] = vec![3; 4];
    }
    assert_eq!(Bipartition::Similar.split(&task, &all), (vec![0, 2, 3], vec![1, 4]));
}

#[test]
fn threads_and_seeds_decide_nothing_they_should_not() {
    struct Threads(Unwatched, rayon::ThreadPool);
    impl Watch for Threads {
        fn checkpoint(&mut self) -> Result<(), MethodError> {
            Watch::<()>::checkpoint(&mut self.0)
        }
        fn report(&mut self, body: lightbay_core::event::EventBody) {
            Watch::<()>::report(&mut self.0, body);
        }
        fn count(&mut self, units: u64) {
            Watch::<()>::count(&mut self.0, units);
        }
        fn elapsed_s(&self) -> f64 {
            0.0
        }
        fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
            Watch::<()>::stop_test(&self.0)
        }
        fn threads(&self) -> usize {
            3
        }
        fn parallel<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
            self.1.install(work)
        }
    }
    let task = family(128, 32, 25, 1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let mut threads = Threads(Unwatched::default(), pool);
    for preference in [None, Some(5)] {
        let settings = HalvingSettings { preference, ..USUAL };
        let alone = solved(&task, settings, &mut Unwatched::default()).unwrap();
        assert_eq!(alone, solved(&task, settings, &mut threads).unwrap());
    }
}

#[test]
fn it_stops_when_told() {
    struct Impatient(u64);
    impl Watch for Impatient {
        fn checkpoint(&mut self) -> Result<(), MethodError> {
            self.0 += 1;
            if self.0 > 3 { Err(MethodError::Failed("enough".to_owned())) } else { Ok(()) }
        }
        fn report(&mut self, _: lightbay_core::event::EventBody) {}
        fn count(&mut self, _: u64) {}
        fn elapsed_s(&self) -> f64 {
            0.0
        }
        fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
            Box::new(|| false)
        }
    }
    let task = family(16, 16, 25, 1);
    assert!(matches!(solved(&task, USUAL, &mut Impatient(0)), Err(Failure::Ended(_))));
}

/// Two pods whose only ports are on different switches pass the merged test.
#[test]
fn ports_that_do_not_meet_are_told() {
    let mut task = family(2, 2, 0, 1);
    task.uniform = false;
    task.ports_a = vec![vec![1, 0], vec![0, 0]];
    task.ports_b = vec![vec![0, 0], vec![0, 1]];
    task.wanted = vec![Cell { a: 0, b: 1, count: 1 }];
    match solved(&task, USUAL, &mut Unwatched::default()) {
        Err(Failure::Stuck(stuck)) => assert!(stuck.words().contains("pods 0, 1"), "{}", stuck.words()),
        other => panic!("{other:?}"),
    }
}

/// Means of a table of the reference, whose instances are others of the same family.
#[test]
fn removals_are_those_of_the_reference() {
    for (pods, ocs, percent, expected, bound) in [
        (8, 8, 25, 18.2, 9.2),
        (16, 8, 25, 56.0, 23.0),
        (16, 16, 25, 102.6, 41.6),
        (16, 16, 100, 145.2, 89.8),
    ] {
        let seeds = 1..=10;
        let (mut removed, mut counted) = (0.0, 0.0);
        for seed in seeds.clone() {
            let task = family(pods, ocs, percent, seed);
            let found = solved(&task, USUAL, &mut Unwatched::default()).unwrap();
            removed += task.removed(&found) as f64 / seeds.clone().count() as f64;
            counted += task.count_bound() as f64 / seeds.clone().count() as f64;
        }
        // The reference's exchanges change a little more, as its bounds tell.
        let allowed = 1.15 * expected + (counted - bound).max(0.0);
        assert!(removed <= allowed, "{pods} {ocs} {percent}: {removed} removed, {expected} in the reference");
        assert!(removed >= counted);
    }
}

#[test]
fn looking_at_several_ways_gains_a_tenth() {
    let (mut one, mut several) = (0, 0);
    for seed in 1..=4 {
        for percent in [5, 25] {
            let task = family(16, 16, percent, seed);
            let best = HalvingSettings { bipartition: Bipartition::Best, ..USUAL };
            let found = solved(&task, best, &mut Unwatched::default()).unwrap();
            assert_eq!(task.misfit(&found), None);
            several += task.removed(&found);
            one += task.removed(&solved(&task, USUAL, &mut Unwatched::default()).unwrap());
        }
    }
    assert!(several * 10 < one * 9, "{several} against {one}");
}

/// On few switches little is lost by merging: within 6 % of the best for the same orientation, on average.
#[test]
fn on_few_switches_halving_is_nearly_optimal() {
    let (mut removed, mut least) = (0, 0);
    for (pods, ocs, percent) in [(4, 4, 25), (4, 4, 100), (8, 3, 25), (8, 4, 5), (8, 4, 25)] {
        for seed in 1..=6 {
            let task = family(pods, ocs, percent, seed);
            let mut watch = Unwatched::default();
            let all: Vec<usize> = (0..ocs).collect();
            let demand = orient(&task, &all, &task.wanted, Preference::none(), &mut watch).unwrap();
            let settings = HalvingSettings { bipartition: Bipartition::Best, ..USUAL };
            let halved = halve(&task, demand.clone(), all, settings, &mut watch).unwrap();
            let program = ExactProgram::new(&task, Orientation::Fixed(&demand));
            let exact = solve_here(program.model(), &Options::new(), &Start::None, &mut Deaf).unwrap();
            let exact = program.assignment(&exact.values.unwrap());
            assert_eq!(task.misfit(&exact), None);
            removed += task.removed(&halved);
            least += task.removed(&exact);
        }
    }
    assert!(
        removed >= least && removed as f64 <= 1.06 * least as f64,
        "{removed} removed, {least} are needed"
    );
}

/// Lets a solver work.
struct Deaf;

impl lightbay_highs::event::SolverListener for Deaf {
    fn event(&mut self, _: &lightbay_highs::event::SolverEvent) -> lightbay_highs::event::Flow {
        lightbay_highs::event::Flow::Continue
    }

    fn tick(&mut self) -> lightbay_highs::event::Flow {
        lightbay_highs::event::Flow::Continue
    }
}

/// A task with the same random ports of every pod on all switches and a demand up to what they hold.
fn uniform(pods: usize, ocs_count: usize, ports: u32, fill: f64, stream: &mut Stream) -> Task {
    let row =
        |stream: &mut Stream| -> Vec<u32> { (0..pods).map(|_| stream.random_range(0..=ports)).collect() };
    let (a, b) = (row(stream), row(stream));
    let all = ocs_count as u32;
    let (mut free_a, mut free_b): (Vec<u32>, Vec<u32>) =
        (a.iter().map(|ports| ports * all).collect(), b.iter().map(|ports| ports * all).collect());
    let mut circuits = Vec::new();
    for _ in 0..(fill * 40.0 * pods as f64 * f64::from(all)) as usize {
        let (i, j) = (stream.random_range(0..pods), stream.random_range(0..pods));
        if i != j && free_a[i] > 0 && free_b[j] > 0 {
            free_a[i] -= 1;
            free_b[j] -= 1;
            circuits.push(Cell { a: i.min(j) as u32, b: i.max(j) as u32, count: 1 });
        }
    }
    let mut installed = Assignment { ocs: Vec::new() };
    for _ in 0..ocs_count {
        let (mut free_a, mut free_b, mut cells) = (a.clone(), b.clone(), Vec::new());
        for _ in 0..20 * pods {
            let (i, j) = (stream.random_range(0..pods), stream.random_range(0..pods));
            if i != j && free_a[i] > 0 && free_b[j] > 0 {
                free_a[i] -= 1;
                free_b[j] -= 1;
                cells.push(Cell { a: i as u32, b: j as u32, count: 1 });
            }
        }
        installed.ocs.push(merged(cells));
    }
    Task {
        pods,
        ocs_count,
        ports_a: vec![a; ocs_count],
        ports_b: vec![b; ocs_count],
        lost: Vec::new(),
        wanted: merged(circuits),
        installed,
        pinned: Assignment { ocs: vec![Vec::new(); ocs_count] },
        single_sided: false,
        uniform: true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// With equal ports on all switches nothing gets stuck, for any number of switches and any bipartition; repair
    /// does not either.
    #[test]
    fn uniform_tasks_never_get_stuck(
        pods in 2usize..9, ocs in 1usize..10, ports in 1u32..4, fill in 0.0f64..1.0, seed in any::<u64>(),
        which in 0usize..4, preference in proptest::option::of(any::<u64>()),
    ) {
        let task = uniform(pods, ocs, ports, fill, &mut Streams::new(seed).stream(0));
        let ways = [Bipartition::EvenOdd, Bipartition::Contiguous, Bipartition::Similar, Bipartition::Best];
        let bipartition = ways[which];
        let mut watch = Unwatched::default();
        let all: Vec<usize> = (0..ocs).collect();
        let demand = orient(&task, &all, &task.wanted, Preference::none(), &mut watch).unwrap();
        let found = halve(&task, demand.clone(), all, HalvingSettings { bipartition, preference }, &mut watch).unwrap();
        prop_assert_eq!(task.misfit(&found), None);
        prop_assert!(task.removed(&found) >= task.count_bound());
        let repaired = crate::search::repair::repair(&task, &demand, &task.installed, &mut watch);
        prop_assert!(repaired.is_ok(), "{:?}", repaired);
        let repaired = repaired.unwrap();
        prop_assert_eq!(task.misfit(&repaired), None);
        let polished = crate::search::polish::polish(&task, &repaired, true, &mut watch, |_, _, _| Ok(())).unwrap();
        prop_assert_eq!(task.misfit(&polished), None);
        prop_assert!(task.removed(&polished) <= task.removed(&repaired));
    }
}
