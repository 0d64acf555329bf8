use super::*;
use crate::throughput::mcf::leighton_rao;
use lightbay_core::watch::Unwatched;

fn scaled(graph: &Digraph) -> f64 {
    let (lower, upper) = graph.throughput(&mut Unwatched::default()).unwrap();
    assert!(upper <= lower * (1.0 + 2.0 * GAP), "{lower} {upper}");
    graph.nodes() as f64 * lower
}

#[test]
fn the_deterministic_columns_of_the_study_are_exact() {
    for (nodes, most, kautz) in
        [(10, 2.8571, 2.8571), (20, 2.3529, 2.2951), (30, 1.9048, 1.7933), (40, 1.7204, 1.7003)]
    {
        assert!((nodes as f64 * bound(nodes) - most).abs() < 6e-5, "bound of {nodes}");
        let found = scaled(&Digraph::gen_kautz(nodes));
        assert!((found - kautz).abs() < 8e-5, "{nodes}: {found} instead of {kautz}");
    }
}

#[test]
fn random_families_are_regular_and_simple() {
    let mut stream = Streams::new(3).stream(0);
    for graph in [Digraph::jellyfish(22, &mut stream), Digraph::xpander(25, &mut stream)] {
        let graph = graph.unwrap();
        let mut arcs = graph.arcs().to_vec();
        arcs.sort_unstable();
        arcs.dedup();
        assert_eq!(arcs.len(), DEGREE * graph.nodes());
        assert!(arcs.iter().all(|(tail, head)| tail != head && arcs.contains(&(*head, *tail))));
        for node in 0..graph.nodes() as u32 {
            assert_eq!(arcs.iter().filter(|(tail, _)| *tail == node).count(), DEGREE);
        }
    }
    assert_eq!(Digraph::xpander(22, &mut stream), None);
    assert_eq!(Digraph::jellyfish(4, &mut stream), None);
}

#[test]
fn the_exact_program_agrees_on_small_networks() {
    let mut stream = Streams::new(5).stream(0);
    for graph in
        [Digraph::gen_kautz(10), Digraph::gen_kautz(13), Digraph::jellyfish(12, &mut stream).unwrap()]
    {
        let exact = leighton_rao::solve(&leighton_rao::of_network(&graph.network())).unwrap();
        let found = scaled(&graph) / graph.nodes() as f64;
        assert!((found / exact - 1.0).abs() < 3e-5, "{found} {exact}");
    }
}

#[test]
fn the_study_of_a_size_is_repeatable_and_below_its_bound() {
    let rows = study(&[15], 1, &mut Unwatched::default()).unwrap();
    assert_eq!(rows, study(&[15], 1, &mut Unwatched::default()).unwrap());
    let row = &rows[0];
    for value in [row.gen_kautz, row.jellyfish.unwrap(), row.xpander.unwrap(), row.search] {
        assert!(value > 0.5 * row.bound && value <= row.bound, "{row:?}");
    }
    assert!(row.search >= row.gen_kautz);
    assert_eq!(csv(&rows).lines().count(), 2);
}
