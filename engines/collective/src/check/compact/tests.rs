use super::*;
use crate::scenario::network::LinkNetwork;
use crate::scenario::presets;
use crate::trees::compact::compact;
use crate::trees::library::{TreeEffort, TreeLibrary, TreePlan, TreePlanSort};
use lightbay_core::watch::Unwatched;

/// The plan of a size, and one in the periodic form.
fn plans(name: &str, bytes: f64) -> (Topology, Vec<CompactPlan>) {
    let topology = presets::scenario(&format!("{name}-allgather-1gb")).unwrap().topology;
    let network = LinkNetwork::of(&topology).unwrap();
    let shard = bytes / network.gpus().len() as f64;
    let mut watch = Unwatched::default();
    let library = TreeLibrary::new(&network, network.gpus(), network.gpus(), f64::INFINITY);
    assert!(library.prepare(&mut watch).unwrap());
    let effort = TreeEffort { run_hops: 20_000, all_hops: 100_000, ..TreeEffort::default() };
    let best = library.plan(shard, 0.0, &effort, &mut watch).unwrap().unwrap();
    let figures = library.periodic_figures(0, shard, &effort).unwrap();
    let periodic =
        TreePlan { finish_us: figures.finish_us, variant: 0, sort: TreePlanSort::Periodic(figures) };
    let plans: Vec<CompactPlan> =
        [best, periodic].iter().map(|plan| compact(&network, &library, plan, shard, 0.0).unwrap()).collect();
    (topology, plans)
}

#[test]
fn plans_of_the_planner_hold() {
    for (name, bytes) in
        [("dgx1", 1e6), ("ndv2x2", 64e6), ("dgx2x2", 1e6), ("mi250x2", 64e6), ("torus4x4x4", 64e6)]
    {
        let (topology, plans) = plans(name, bytes);
        for plan in plans {
            assert_eq!(violations(&topology, &plan), Vec::<String>::new(), "{name}");
        }
    }
}

#[test]
fn a_plan_of_a_thousand_gpus_is_small_and_holds() {
    let (topology, plans) = plans("h100x128", 64e6);
    assert!(plans.iter().all(|plan| plan.trees.iter().all(|tree| tree.root == plan.trees[0].root)));
    assert_eq!(violations(&topology, &plans[0]), Vec::<String>::new());
}

#[test]
fn what_is_changed_is_found() {
    let (topology, plans) = plans("ndv2x2", 1e6);
    let classes = |change: &dyn Fn(&mut CompactPlan), which: usize| {
        let mut plan = plans[which].clone();
        change(&mut plan);
        let found = violations(&topology, &plan);
        assert!(!found.is_empty());
        found.iter().map(|text| text.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let has = |found: Vec<String>, class: &str| {
        assert!(found.iter().any(|word| word == class), "{class}: {found:?}");
    };
    has(classes(&|plan| plan.format = "x".to_owned(), 0), "format");
    has(classes(&|plan| plan.finish_epochs -= 1, 0), "claim");
    has(classes(&|plan| plan.trees[0].share = "1/2".to_owned(), 1), "demand");
    has(classes(&|plan| plan.trees.truncate(1), 0), "demand");
    has(classes(&|plan| plan.trees[0].edges.truncate(3), 1), "demand");
    has(classes(&|plan| plan.trees[0].edges.swap(0, 14), 1), "causality");
    has(classes(&|plan| plan.trees[0].edges[0] = vec![0, 15], 1), "link");
    has(classes(&|plan| plan.epoch_us /= 2.0, 1), "capacity");
    has(classes(&|plan| plan.generators = vec![(0..16).rev().collect()], 1), "symmetry");
    if plans[0].discipline == CompactDiscipline::WholeChunk {
        has(classes(&|plan| plan.trees[0].starts[0].iter_mut().for_each(|start| *start = 0), 0), "causality");
        has(
            classes(
                &|plan| {
                    let first = plan.trees[0].starts[0].clone();
                    plan.trees[0].starts[1] = first;
                },
                0,
            ),
            "capacity",
        );
    }
}

/// A tree that a switch copies takes the way into it once; where the switch cannot copy, once for each hop.
#[test]
fn copies_need_switches_that_copy() {
    let told = |up: f64, copy: bool| {
        let links = [(0, 3, up, 0.0), (3, 1, 1.0, 0.0), (3, 2, 1.0, 0.0)];
        let mut topology = crate::testing::own(4, &[3], &links, &[]).topology;
        topology.switch_model.copy = copy;
        let tree = CompactTree {
            root: 0,
            share: "1/1".to_owned(),
            dests: Vec::new(),
            edges: vec![vec![0, 3, 1], vec![0, 3, 2]],
            starts: vec![vec![0, 0]],
        };
        let plan = CompactPlan {
            format: FORMAT.to_owned(),
            discipline: CompactDiscipline::WholeChunk,
            adds_up: None,
            epoch_us: 1000.0,
            shard_bytes: 1e6,
            pieces_per_tree: 1,
            finish_epochs: 2,
            trees: vec![tree],
            generators: Vec::new(),
        };
        let demand = CompactDemand {
            sources: &[0],
            receivers: &[0, 1, 2],
            each: false,
            alpha_threshold: 0.0,
            most_held_bytes: None,
        };
        violations_for(&topology, &plan, demand)
    };
    assert_eq!(told(1.0, true), [] as [&str; 0]);
    assert_eq!(
        told(1.0, false),
        ["capacity: link 0->3 starts more pieces than its capacity allows at epoch 0"]
    );
    // Twice the rate is room for both.
    assert_eq!(told(2.0, false), [] as [&str; 0]);
}

/// As above, for the shares of a periodic schedule.
#[test]
fn shares_are_copied_by_switches_that_copy() {
    let told = |copy: bool| {
        let links = [(0, 3, 1.0, 0.0), (3, 1, 1.0, 0.0), (3, 2, 1.0, 0.0)];
        let mut topology = crate::testing::own(4, &[3], &links, &[]).topology;
        topology.switch_model.copy = copy;
        let tree = CompactTree {
            root: 0,
            share: "1/1".to_owned(),
            dests: Vec::new(),
            edges: vec![vec![0, 3, 1], vec![0, 3, 2]],
            starts: Vec::new(),
        };
        let plan = CompactPlan {
            format: FORMAT.to_owned(),
            discipline: CompactDiscipline::Fluid,
            adds_up: None,
            epoch_us: 500.0,
            shard_bytes: 1e6,
            pieces_per_tree: 2,
            finish_epochs: 3,
            trees: vec![tree],
            generators: Vec::new(),
        };
        let demand = CompactDemand {
            sources: &[0],
            receivers: &[0, 1, 2],
            each: false,
            alpha_threshold: 0.0,
            most_held_bytes: None,
        };
        violations_for(&topology, &plan, demand)
    };
    assert_eq!(told(true), [] as [&str; 0]);
    let wanted = "capacity: link 0->3 carries more data in an epoch than its capacity allows";
    assert_eq!(told(false), [wanted]);
}
