use super::*;
use crate::model::assignment::Assignment;
use crate::scenario::presets;
use lightbay_core::random::Streams;
use lightbay_core::watch::Unwatched;
use proptest::prelude::*;

#[test]
fn segments_of_the_convex_cost() {
    for ((u0, u1, wanted), expected) in [
        ((3, 2, 4), [2, 1, 1]),
        ((1, 1, 4), [1, 2, 1]),
        ((0, 0, 4), [0, 4, 0]),
        ((5, 0, 4), [4, 0, 0]),
        ((0, 5, 4), [0, 0, 4]),
        ((1, 0, 0), [0, 0, 0]),
    ] {
        assert_eq!(segments(u0, u1, wanted), expected, "{u0} {u1} {wanted}");
    }
}

/// A task with one switch that has the given ports, with circuits installed on it.
fn task(wanted: &[(u32, u32, u32)], installed: &[(u32, u32, u32)], a: Vec<u32>, b: Vec<u32>) -> Task {
    let cells = |list: &[(u32, u32, u32)]| merged(list.iter().map(|&(a, b, count)| Cell { a, b, count }));
    Task {
        pods: a.len(),
        ocs_count: 1,
        ports_a: vec![a],
        ports_b: vec![b],
        lost: Vec::new(),
        wanted: cells(wanted),
        installed: Assignment { ocs: vec![cells(installed)] },
        pinned: Assignment { ocs: vec![Vec::new()] },
        single_sided: false,
        uniform: true,
    }
}

fn oriented(task: &Task) -> Result<Vec<Cell>, Failure> {
    orient(task, &[0], &task.wanted, Preference::none(), &mut Unwatched::default())
}

#[test]
fn ports_can_forbid_the_old_orientation() {
    let wanted = [(0, 1, 3), (0, 2, 1), (1, 2, 1)];
    let task = task(&wanted, &[(0, 1, 3), (2, 0, 1), (2, 1, 1)], vec![2; 3], vec![2; 3]);
    let found = oriented(&task).unwrap();
    let kept: u32 =
        found.iter().map(|cell| cell.count.min(count(&task.installed.ocs[0], cell.a, cell.b))).sum();
    assert_eq!(kept, 3);
    let degree = |pod: u32, end: fn(&Cell) -> u32| -> u32 {
        found.iter().filter(|cell| end(cell) == pod).map(|cell| cell.count).sum()
    };
    assert!((0..3).all(|pod| degree(pod, |cell| cell.a) <= 2 && degree(pod, |cell| cell.b) <= 2));
}

#[test]
fn pods_without_ports_are_named() {
    let task = task(&[(0, 1, 1), (1, 2, 2)], &[], vec![1, 1, 1], vec![1, 1, 0]);
    match oriented(&task) {
        Err(Failure::Stuck(stuck)) => {
            assert!(stuck.pods.contains(&2) || stuck.pods.contains(&1), "{stuck:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn random_tastes_cost_the_same() {
    let scenario = presets::scenario("crossconnect-16-8-25").unwrap();
    let task = Task::of(&scenario);
    let all: Vec<usize> = (0..task.ocs_count).collect();
    let old = merged(task.installed.ocs.iter().flatten().copied());
    let kept = |cells: &[Cell]| -> u32 {
        cells.iter().map(|cell| cell.count.min(count(&old, cell.a, cell.b))).sum()
    };
    let mut stream = Streams::new(1).stream(0);
    let solve = |preference: Preference<'_>| {
        orient(&task, &all, &task.wanted, preference, &mut Unwatched::default()).unwrap()
    };
    let usual = solve(Preference::none());
    let other = solve(Preference::random(&mut stream));
    assert_eq!(kept(&usual), kept(&other));
    assert_ne!(usual, other);
}

proptest! {
    #[test]
    fn segments_add_up_to_the_cost(u0 in 0u32..6, u1 in 0u32..6, wanted in 0u32..6) {
        let cost = |x: u32| u0.saturating_sub(x) + (u1 + x).saturating_sub(wanted);
        let [falling, flat, rising] = segments(u0, u1, wanted);
        prop_assert_eq!(falling + flat + rising, wanted);
        for x in 0..wanted {
            let step = cost(x + 1) as i64 - cost(x) as i64;
            let expected = i64::from(x >= falling + flat) - i64::from(x < falling);
            prop_assert_eq!(step, expected);
        }
    }

    /// With S ports on either side of every pod and degrees up to 2 S an orientation exists.
    #[test]
    fn balanced_pods_can_always_be_oriented(pods in 2u32..9, ports in 1u32..5, seed in any::<u64>()) {
        let mut stream = Streams::new(seed).stream(0);
        let mut degree = vec![0; pods as usize];
        let mut wanted = Vec::new();
        for _ in 0..200 {
            let a = stream.random_range(0..pods);
            let b = (a + stream.random_range(1..pods)) % pods;
            if degree[a as usize] < 2 * ports && degree[b as usize] < 2 * ports {
                degree[a as usize] += 1;
                degree[b as usize] += 1;
                wanted.push((a.min(b), a.max(b), 1));
            }
        }
        let task = task(&wanted, &[], vec![ports; pods as usize], vec![ports; pods as usize]);
        let found = oriented(&task);
        prop_assert!(found.is_ok());
        prop_assert_eq!(task.misfit(&Assignment { ocs: vec![found.unwrap()] }), None);
    }
}

#[test]
fn words_leave_out_lists_without_entries() {
    let stuck = |switches: Vec<usize>, pods: Vec<u32>| Stuck { switches, pods }.words();
    let end = "do not suffice for the target circuits";
    assert_eq!(stuck(vec![0, 1], vec![2]), format!("the ports of pods 2 on switches 0, 1 {end}"));
    assert_eq!(stuck(vec![0, 1], Vec::new()), format!("the ports on switches 0, 1 {end}"));
    assert_eq!(stuck(Vec::new(), Vec::new()), format!("the ports {end}"));
}
