use super::*;
use crate::app::series::Point;

fn run() -> Run {
    let mut run = Run::new(RunId(1), "tons-fast", "sha", RunState::Running);
    let mut say = |name: &str, points: &[(f64, f64)]| {
        for &(at_s, value) in points {
            run.named.entry(name.to_owned()).or_default().push(Point { at_s, count: at_s, value });
        }
    };
    say("metric_upper", &[(0.01, 0.0061), (0.4, 0.006_34)]);
    say("mcf_upper", &[(0.6, 0.006_36), (5.0, 0.006_329)]);
    say("mcf_lower", &[(0.6, 0.004), (5.0, 0.006_313)]);
    say("baseline_pdtt", &[(0.0, 0.005_435)]);
    run
}

#[test]
fn a_run_stands_between_its_certificate_and_the_tori() {
    let run = run();
    let standing = Standing::of(Some(&run), None, Some(0.006_624), None);
    assert_eq!(
        (standing.any, standing.metric, standing.certified),
        (Some(0.006_624), Some(0.006_329), Some(0.006_313))
    );
    assert!((standing.gap().unwrap() - 0.002_534).abs() < 1e-5);
    assert!((standing.times(0).unwrap() - 1.1616).abs() < 1e-4);
    assert!((standing.reached().unwrap() - 0.953).abs() < 1e-3);
    assert_eq!(standing.tori, [("PDTT".to_owned(), 0.005_435)]);
    assert_eq!(standing.times(1), None);
}

#[test]
fn the_certificate_of_a_new_design_takes_nothing_back() {
    let mut run = run();
    for (name, value) in [("mcf_upper", 0.006_4), ("mcf_lower", 0.003)] {
        run.named.entry(name.to_owned()).or_default().push(Point { at_s: 6.0, count: 6.0, value });
    }
    let standing = Standing::of(Some(&run), None, None, None);
    assert_eq!((standing.metric, standing.certified), (Some(0.006_329), Some(0.006_313)));
    assert_eq!(certificates(&run).len(), 2);
}

#[test]
fn before_the_first_certificate_only_the_metric_is_known() {
    let mut run = run();
    run.named.remove("mcf_upper");
    run.named.remove("mcf_lower");
    let standing = Standing::of(Some(&run), None, None, None);
    assert_eq!((standing.metric, standing.certified, standing.gap()), (Some(0.006_34), None, None));
}

#[test]
fn a_throughput_has_the_decimals_of_its_size() {
    assert_eq!(&*mcf(0.006_326_4), "0.006326");
    assert_eq!(&*mcf(0.014_089), "0.01409");
    assert_eq!(&*mcf(0.000_108_73), "0.0001087");
    assert_eq!(&*mcf(f64::NAN), "-");
}
