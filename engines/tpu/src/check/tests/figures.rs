//! Sound plans pass, and what the checker computes is what it should be.

use super::support::{Case, hop_certificate};
use crate::check::{code, cover};
use crate::methods::assemble::PodParts;
use crate::model::baselines;
use crate::model::group::Group;
use crate::model::topology::Topology;
use crate::routing::dor;
use crate::scenario::TpuScenario;
use crate::scenario::presets;
use crate::throughput::metrics;
use lightbay_core::checked::BoundTrust;
use lightbay_core::kind::Depth;
use lightbay_core::watch::Unwatched;

#[test]
fn sound_plans_pass() {
    let random = presets::scenario("tpu-random-128").unwrap();
    let pod = random.named_topology().unwrap().unwrap();
    Case::of(random, &pod).assert_passes();
    let triangle = Group::dihedral(3).unwrap();
    let pod = Topology::symmetric(triangle, std::array::from_fn(|o| ((o * o + 3 * o + 1) % 6) as u16));
    Case::unrouted(TpuScenario::design(6), &pod).assert_passes();
    let general = Topology::general(
        &(0..48).map(|o| if o % 2 == 0 { vec![1, 2, 0] } else { vec![1, 0, 2] }).collect::<Vec<_>>(),
    )
    .unwrap();
    Case::of(TpuScenario::design(3), &general).assert_passes();
}

#[test]
fn tori_in_dimension_order_pass() {
    for (shape, twisted) in [([4, 4, 8], false), ([4, 4, 8], true), ([8, 4, 4], true), ([4, 4, 12], false)] {
        let name = if twisted { "pdtt" } else { "pt" };
        let scenario = presets::scenario(&format!("{name}-{}", baselines::named(shape))).unwrap();
        let pod = scenario.named_topology().unwrap().unwrap();
        let settings = dor::DorSettings::default();
        let mut parts = Case::certified(&pod);
        parts.routing = Some(dor::route(&pod, shape, twisted, &settings, &mut Unwatched::default()).unwrap());
        Case::from_parts(scenario, parts).assert_passes();
    }
}

#[test]
fn tori_are_recognised_and_told_apart() {
    for (name, other) in [
        ("pt-4x8x8", "pdtt-4x8x8"),
        ("pdtt-8x8x16", "pt-8x8x16"),
        ("pt-4x4x16", "pt-4x8x8"),
        ("pdtt-8x16x16", "pt-8x16x16"),
    ] {
        let scenario = presets::scenario(name).unwrap();
        let of = |name: &str| {
            let pod = presets::scenario(name).unwrap().named_topology().unwrap().unwrap();
            let certificate = hop_certificate(&pod, 1e-6);
            Case::from_parts(
                scenario.clone(),
                PodParts::of(pod.clone(), metrics::hops(&pod).unwrap(), certificate),
            )
        };
        of(name).assert_passes();
        of(other).assert_codes(&[code::SCENARIO]);
    }
}

#[test]
fn the_throughput_is_found_again() {
    let general = Topology::general(
        &(0..48).map(|o| if o % 2 == 0 { vec![1, 0] } else { vec![0, 1] }).collect::<Vec<_>>(),
    )
    .unwrap();
    let random = presets::scenario("tpu-random-256").unwrap();
    let symmetric = random.named_topology().unwrap().unwrap();
    for (scenario, pod) in [(TpuScenario::design(2), general), (TpuScenario::design(4), symmetric)] {
        let case = Case::unrouted(scenario, &pod);
        let verdict = case.verdict(Depth::EXACT);
        assert!(verdict.violations.is_empty(), "{:#?}", verdict.violations);
        // Without symmetry the interval found again is a few per cent wide.
        let sharp = pod.symmetry().is_some();
        let said = if sharp { "is confirmed" } else { "the largest flow" };
        assert!(verdict.remarks.iter().any(|remark| remark.contains(said)), "{:?}", verdict.remarks);
        // Between the true throughput and what the certificate proves only a computation can tell.
        let claim = |lower: f64, upper: f64| {
            let claims = &case.result.claims;
            let (lower, upper) = (lower * claims.mcf_lower, upper * claims.mcf_upper);
            let nodes = case.scenario.nodes() as f64;
            let changed = case.with(|case| {
                case.result.claims.mcf_lower = lower;
                case.result.claims.mcf_upper = upper;
                case.value = lower;
                case.metrics.insert("n_mcf".to_owned(), nodes * lower);
                case.metrics.insert("mcf_upper".to_owned(), upper);
                case.result.certificates.class_lengths = None;
                case.result.certificates.link_lengths = None;
            });
            changed.verdict(Depth::EXACT).violations.iter().map(|found| found.code).collect::<Vec<_>>()
        };
        let hop_bound = metrics::hop_bound(pod.nodes(), case.result.claims.hop_sum);
        let room = hop_bound / case.result.claims.mcf_upper;
        if sharp && room > 1.03 {
            assert_eq!(claim(1.02, room), [code::MCF]);
        }
        assert!(claim(0.9, 0.9).contains(&code::MCF));
    }
}

#[test]
fn the_cover_bound_is_the_one_of_the_methods() {
    // Bounds by parity as published (hops only); by position and over several lengths they are up to a tenth lower.
    for (nodes, published) in [
        (128, 0.015484),
        (192, 0.009524),
        (256, 0.006624),
        (512, 0.002893),
        (1024, 0.0012810),
        (2048, 0.0005770),
        (8192, 0.0001201),
    ] {
        let bound = cover::mcf_bound(nodes);
        assert!(bound < published && bound > 0.9 * published, "{nodes}: {bound}");
        assert!((metrics::cover_bound(nodes).mcf / published - 1.0).abs() < 5e-4, "{nodes}");
        assert!((bound / metrics::cover::tight_cover_bound(nodes) - 1.0).abs() < 1e-12, "{nodes}");
    }
}

#[test]
fn a_bound_is_verified_down_to_the_cover_and_claimed_below() {
    let scenario = presets::scenario("pt-4x4x8").unwrap();
    let pod = baselines::pt([4, 4, 8]).unwrap();
    let case = Case::unrouted(scenario, &pod);
    assert_eq!(case.verdict(Depth::Usual).bound, BoundTrust::Verified);
    // Two cubes: 0.0142772 by positions, as two programs independent of this one give it.
    let below = case.with(|case| case.bound = Some(0.01427));
    let verdict = below.verdict(Depth::Usual);
    assert_eq!((verdict.bound, verdict.violations.len()), (BoundTrust::Claimed, 0));
    assert!(verdict.remarks.iter().any(|remark| remark.contains("claimed by test")), "{:?}", verdict.remarks);
    // What the checker proves itself is there whatever is claimed.
    let verified = case.with(|case| case.bound = None).verdict(Depth::Usual).verified;
    assert!(verified.is_some_and(|verified| (verified.value / 0.0142772 - 1.0).abs() < 5e-6));
    case.with(|case| case.bound = None).assert_passes();
    case.with(|case| case.bound = Some(case.value * 0.9)).assert_codes(&[code::BOUND]);
}

#[test]
fn bounds_below_what_some_pod_carries_are_refused() {
    let twisted = baselines::pdtt([4, 4, 8]).unwrap();
    let scenario = presets::scenario("pdtt-4x4x8").unwrap();
    let exact = |case: &Case| {
        let violations = case.verdict(Depth::EXACT).violations;
        violations.iter().map(|found| found.code).collect::<Vec<_>>()
    };
    let mut modest = Case::unrouted(scenario, &twisted);
    // The torus carries 0.013636; half of that is claimed, and that nothing carries more than a little above.
    let half = 0.5 * modest.value;
    modest.result.claims.mcf_lower = half;
    modest.value = half;
    modest.metrics.insert("n_mcf".to_owned(), 128.0 * half);
    modest.assert_passes();
    let forged = modest.with(|case| case.bound = Some(0.008));
    forged.assert_passes();
    assert_eq!(exact(&forged), [code::BOUND]);
    // No computation is needed to know what the plain torus carries, 1/128.
    modest.with(|case| case.bound = Some(0.0078)).assert_codes(&[code::BOUND]);
}

#[test]
fn a_bound_below_the_cover_and_the_relaxation_stays_claimed() {
    let scenario = presets::scenario("pdtt-4x4x8").unwrap();
    let case = Case::unrouted(scenario, &baselines::pdtt([4, 4, 8]).unwrap());
    // The relaxation of 128 chips is 0.014423, the cover by positions 0.014277.
    let cover = |verified: f64| (verified / 0.0142772 - 1.0).abs() < 5e-6;
    let loose = case.with(|case| case.bound = Some(0.0143)).verdict(Depth::EXACT);
    assert_eq!((loose.bound, loose.violations), (BoundTrust::Verified, Vec::new()));
    assert!(loose.verified.is_some_and(|verified| cover(verified.value)));
    let tight = case.with(|case| case.bound = Some(0.0142)).verdict(Depth::EXACT);
    assert_eq!((tight.bound, tight.violations), (BoundTrust::Claimed, Vec::new()));
    assert!(tight.verified.is_some_and(|verified| cover(verified.value)));
}
