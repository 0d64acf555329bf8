use super::template::{Role, Template};
use super::*;
use crate::scenario::presets;
use proptest::prelude::*;

fn scenario(wiring: Wiring) -> CrossconnectScenario {
    let mut scenario = presets::scenario("crossconnect-example").unwrap();
    scenario.wiring = wiring;
    scenario.ports_a = vec![vec![2, 1], vec![0, 1], vec![3, 1], vec![1, 1]];
    scenario.ports_b = match wiring {
        Wiring::SingleSided => vec![vec![0; 2]; 4],
        _ => vec![vec![1, 1], vec![1, 1], vec![1, 1], vec![2, 1]],
    };
    scenario
}

const USUAL: Numbers = Numbers { ingress_base: 1, egress_base: None, one_series: true, bidirectional: false };

fn lanes(wiring: Wiring, numbers: Numbers, device: usize, ends: Ends) -> Vec<(u64, u64)> {
    let devices = devices(&scenario(wiring), &numbers).unwrap();
    devices[device].lanes(ends).map(|lane| (lane.ingress, lane.egress)).collect()
}

#[test]
fn connections_are_those_of_the_table() {
    // Switch 0 has 6 A and 5 B ports.
    let ends = Ends { a: 2, b: 3 };
    assert_eq!(lanes(Wiring::TwoSided, USUAL, 0, ends), [(2, 11 + 6 + 3), (6 + 3, 11 + 2)]);
    assert_eq!(lanes(Wiring::CrossWired, USUAL, 0, ends), [(2, 6 + 3)]);
    assert_eq!(lanes(Wiring::CrossWired, USUAL, 1, ends), [(3, 5 + 2)]);
    assert_eq!(lanes(Wiring::SingleSided, USUAL, 0, ends), [(2, 6 + 3), (3, 6 + 2)]);
    let both = Numbers { bidirectional: true, ..USUAL };
    assert_eq!(lanes(Wiring::TwoSided, both, 0, ends), [(2, 6 + 3)]);
    assert_eq!(lanes(Wiring::SingleSided, both, 0, ends), [(2, 3)]);
    let apart = Numbers { one_series: false, ..USUAL };
    assert_eq!(lanes(Wiring::TwoSided, apart, 0, ends), [(2, 9), (9, 2)]);
    let based = Numbers { ingress_base: 0, egress_base: Some(100), ..USUAL };
    assert_eq!(lanes(Wiring::TwoSided, based, 0, ends), [(1, 108), (8, 101)]);
    let ids: Vec<(u32, u32)> = devices(&scenario(Wiring::CrossWired), &USUAL)
        .unwrap()
        .iter()
        .map(|device| (device.id, device.ocs))
        .collect();
    assert_eq!(ids, [(0, 0), (1, 0), (2, 1), (3, 1)]);
}

/// A switch names a bidirectional connection from one end, so the order of the ends is kept.
#[test]
fn bidirectional_connections_without_sides_keep_the_order_of_their_ends() {
    let both = Numbers { bidirectional: true, ..USUAL };
    let device = &devices(&scenario(Wiring::SingleSided), &both).unwrap()[0];
    let lane = Lane { ingress: 3, egress: 1 };
    assert_eq!(device.joint(lane).unwrap().circuit, Some((Ends { a: 3, b: 1 }, Way::Both)));
    assert_eq!(device.lanes(Ends { a: 3, b: 1 }).collect::<Vec<_>>(), [lane]);
}

#[test]
fn numbers_that_contradict_the_wiring_are_refused() {
    let refused = |wiring, numbers: Numbers| devices(&scenario(wiring), &numbers).unwrap_err().to_string();
    let both = Numbers { bidirectional: true, ..USUAL };
    assert!(refused(Wiring::CrossWired, both).contains("simplex pairs"));
    let message = refused(Wiring::TwoSided, Numbers { egress_base: Some(11), ..USUAL });
    assert!(message.contains("egress_base: is 11") && message.contains("1 to 11; give 12"), "{message}");
    assert!(
        refused(Wiring::SingleSided, Numbers { egress_base: Some(9), ..both }).contains("a single number")
    );
}

#[test]
fn ports_have_their_place_on_the_panel() {
    let scenario = scenario(Wiring::TwoSided);
    assert_eq!(scenario.port_at(Side::A, 0, 1), Some((0, 0)));
    assert_eq!(scenario.port_at(Side::A, 0, 3), Some((2, 0)));
    assert_eq!(scenario.port_at(Side::A, 0, 6), Some((3, 0)));
    assert_eq!(scenario.port_at(Side::A, 0, 7), None);
    assert_eq!(scenario.port_at(Side::B, 0, 5), Some((3, 1)));
    assert_eq!(scenario.port_at(Side::B, 0, 0), None);
}

#[test]
fn names_are_made_and_read() {
    let slots = Template::new("1.{slot}.{port}", 8).unwrap();
    assert_eq!(slots.name(Role::Ingress, 8), "1.1.8");
    assert_eq!(slots.name(Role::Ingress, 9), "1.2.1");
    let sides = Template::new("{n}{side}", 1).unwrap();
    assert_eq!(sides.name(Role::Egress, 16), "16B");
    assert_eq!(sides.number(Role::Egress, "16A"), None);
    for bad in [
        "",
        "x",
        "{n}{n}",
        "{slot}",
        "{n}7",
        "{slot}{port}",
        "{n",
        "{m}",
        "{n} ",
        "{n}'",
        "{n}.{slot}.{port}",
    ] {
        assert!(Template::new(bad, 8).is_err(), "{bad}");
    }
    for bad in ["1.0.1", "1.1.9", "2.1.1", "1.1.", "1.1.1x", ""] {
        assert_eq!(slots.number(Role::Ingress, bad), None, "{bad}");
    }
    assert_eq!(sides.number(Role::Ingress, "99999999999999999999A"), None);
}

proptest! {
    #[test]
    fn names_lead_back_to_numbers(
        number in 1u64..1_000_000,
        ports in 1u64..100,
        text in prop_oneof![Just("{n}"), Just("p{n}{side}"), Just("1.{slot}.{port}"), Just("{side}/{port}-{slot}x")],
    ) {
        let template = Template::new(text, ports).unwrap();
        for role in [Role::Ingress, Role::Egress] {
            prop_assert_eq!(template.number(role, &template.name(role, number)), Some(number));
        }
    }

    #[test]
    fn connections_lead_back_to_circuits(
        wiring in prop_oneof![Just(Wiring::TwoSided), Just(Wiring::CrossWired), Just(Wiring::SingleSided)],
        one_series in any::<bool>(),
        bidirectional in any::<bool>(),
        ingress_base in 0u64..50,
        a in 1u32..=6,
        b in 1u32..=5,
    ) {
        prop_assume!(!bidirectional || wiring != Wiring::CrossWired);
        prop_assume!(wiring != Wiring::SingleSided || a < b);
        let numbers = Numbers { ingress_base, egress_base: None, one_series, bidirectional };
        let mut ways = Vec::new();
        for device in devices(&scenario(wiring), &numbers).unwrap().iter().filter(|device| device.ocs == 0) {
            for lane in device.lanes(Ends { a, b }) {
                let (ends, way) = device.joint(lane).unwrap().circuit.unwrap();
                prop_assert_eq!(ends, Ends { a, b });
                ways.push(way);
            }
            let beyond = device.joint(Lane { ingress: 1000, egress: 1000 });
            prop_assert!(beyond.unwrap_err().0.contains("1000"));
        }
        ways.sort_unstable();
        prop_assert_eq!(ways, if bidirectional { vec![Way::Both] } else { vec![Way::Out, Way::Back] });
    }
}
