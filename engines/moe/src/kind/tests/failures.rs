//! Regions with failed NICs, from the parameter to plans, reports and the circuits that other kinds take.

use super::*;
use crate::MoeScenario;
use crate::scenario::FailedNic;
use lightbay_core::event::EndStatus;

fn failing(nics: &str) -> MoeScenario {
    let mut body = presets::scenario("moe-small").unwrap();
    body.set("failed_nics", None, &ParamValue::Text(nics.to_owned())).unwrap();
    body.validate().unwrap();
    body
}

fn planned(body: &MoeScenario, method: &str) -> Arc<lightbay_core::checked::Checked<Moe>> {
    let done = Ask::of(&all(), method, body.clone()).run().sound().done;
    downcast::<Moe>(&done.plan.unwrap_or_else(|| panic!("{method}: {}", done.message))).unwrap()
}

#[test]
fn every_method_plans_around_failed_nics() {
    for nics in ["s0:0", "s1:3", "s0:0, s0:1, s0:2, s1:7, s3:4"] {
        let body = failing(nics);
        let mut values = Vec::new();
        // Server 0 has five NICs left in the last case, topoopt needs more than six.
        let is_left_out = |name: &str| name == "mfabric-placed" || name == "topoopt" && nics.len() > 4;
        for method in all().iter().map(|method| method.info().name).filter(|name| !is_left_out(name)) {
            let plan = planned(&body, method);
            let result = &plan.plan().result;
            for circuit in result.layers.iter().flat_map(|layer| &layer.circuits) {
                assert!(!body.region.is_failed(circuit.server_a, circuit.nic_a), "{method} {nics}");
                assert!(!body.region.is_failed(circuit.server_b, circuit.nic_b), "{method} {nics}");
            }
            values.push((method, plan.plan().objective.value));
        }
        let of = |name: &str| values.iter().find(|(method, _)| *method == name).unwrap().1;
        assert!(
            of("auto") <= of("mfabric-swap") * (1.0 + 1e-9) && of("pooled") <= of("fat-tree"),
            "{nics} {values:?}"
        );
    }
    let mut free = failing("s1:4, s2:3");
    free.set("expert_placement", None, &ParamValue::Text("free".to_owned())).unwrap();
    planned(&free, "mfabric-placed");
}

/// Gradients of one server go over one packet-switched NIC instead of two, so all of them take twice as long.
#[test]
fn gradients_wait_for_the_server_with_the_fewest_packet_switched_nics() {
    let time =
        |nics: &str, method: &str| planned(&failing(nics), method).plan().result.iteration.data_parallel_ms;
    let near = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-12;
    assert!(near(time("s2:3", "mfabric-swap"), 2.0 * time("none", "mfabric-swap")));
    assert!(near(time("s2:0", "mfabric-swap"), time("none", "mfabric-swap")));
    // Of eight NICs the networks without circuits have seven; topoopt gives six of them to the experts.
    assert!(near(time("s2:0", "fat-tree"), 8.0 / 7.0 * time("none", "fat-tree")));
    assert!(near(time("s2:0", "rail"), 8.0 / 7.0 * time("none", "rail")));
    assert!(near(time("s2:0", "pooled"), 8.0 / 7.0 * time("none", "pooled")));
    assert!(near(time("s2:0", "topoopt"), 2.0 * time("none", "topoopt")));
}

#[test]
fn a_server_that_cannot_send_is_refused_by_name() {
    for (nics, method, why) in [
        ("s1:3, s1:7", "auto", "failed_nics leaves server 1 no NIC for packet switches"),
        (
            "s2:0,s2:1,s2:2,s2:3,s2:4,s2:5,s2:6,s2:7",
            "mfabric-exact",
            "failed_nics leaves server 2 no working NIC",
        ),
        ("s2:0,s2:1,s2:2,s2:3,s2:4,s2:5,s2:6,s2:7", "fat-tree", "failed_nics leaves server 2 no working NIC"),
        ("s0:1, s0:5", "topoopt", "failed_nics leaves server 0 6 NICs, and the all-to-alls use all of them"),
    ] {
        let done = Ask::of(&all(), method, failing(nics)).run().done;
        assert_eq!((done.status, done.plan.is_none()), (EndStatus::Infeasible, true), "{method}");
        assert!(
            done.message.contains(why) && done.message.contains("remove it from failed_nics"),
            "{}",
            done.message
        );
    }
}

#[test]
fn a_failed_dark_nic_leaves_the_iteration_as_it_was() {
    // Three servers with three optical NICs each have four circuits: one NIC is dark.
    let mut body = presets::scenario("moe-small").unwrap();
    for (name, value) in [("ep", 6), ("experts", 6), ("cluster_servers", 12), ("optical_degree", 3)] {
        body.set(name, None, &ParamValue::Int(value)).unwrap();
    }
    body.validate().unwrap();
    assert_eq!(body.region.servers, 3);
    let before = planned(&body, "mfabric-greedy");
    let layers = &before.plan().result.layers;
    let is_used = |server: u32, nic: u32| {
        layers.iter().flat_map(|layer| &layer.circuits).any(|circuit| {
            [(circuit.server_a, circuit.nic_a), (circuit.server_b, circuit.nic_b)].contains(&(server, nic))
        })
    };
    let places = (0..3).flat_map(|server| body.region.ocs_nics.iter().map(move |nic| (server, *nic)));
    let dark: Vec<(u32, u32)> = places.filter(|(server, nic)| !is_used(*server, *nic)).collect();
    for (server, nic) in dark {
        let mut other = body.clone();
        other.region.failed_nics = vec![FailedNic { server, nic }];
        let after = planned(&other, "mfabric-greedy");
        let ratio = after.plan().objective.value / before.plan().objective.value;
        assert!((ratio - 1.0).abs() < 1e-12, "s{server}:{nic} {ratio}");
    }
}

#[test]
fn reports_state_what_cannot_be_kept() {
    let checked = planned(&failing("s0:0, s1:3"), "auto");
    let plan = checked.plan();
    let report = crate::report::MoeReport::new(&plan.scenario, Some(plan));
    for info in crate::report::SECTIONS {
        report.section(info.name, Deadline::NEVER).unwrap_or_else(|why| panic!("{}: {why}", info.name));
    }
    let text = |name: &str| format!("{:?}", report.section(name, Deadline::NEVER).unwrap());
    let left = "server 0 has 5 of 6 optical and 2 of 2 packet-switched NICs left; server 1 has 6 of 6 optical and 1 of 2";
    assert!(text("region").contains(left), "{}", text("region"));
    let iteration = text("iteration");
    for part in ["s0:0, s1:3", "all_nics_ms", "working_nics_ms", "longer_ms", left] {
        assert!(iteration.contains(part), "{part}: {iteration}");
    }
    assert!(text("nics").contains("nothing: failed"));
    assert!(text("regions").contains("Failed NICs are in region 0"));
    let whole = solve("moe-small", "auto", &[]);
    let report = crate::report::MoeReport::new(&whole.plan().scenario, Some(whole.plan()));
    assert!(!format!("{:?}", report.section("iteration", Deadline::NEVER).unwrap()).contains("longer_ms"));
}

/// The port of a failed NIC is a failed port of the region's switch; its numbers stay.
#[test]
fn other_kinds_take_the_failed_ports() {
    let checked = planned(&failing("s2:4, s1:3, s0:1"), "mfabric-swap");
    let matrix = Moe::circuits_of_layer(checked.plan(), 0).unwrap();
    assert_eq!(matrix.ports_per_pod, [6; 4]);
    let places = matrix.places.unwrap();
    let failed: Vec<(u32, u32, bool)> =
        places.failed_ports.iter().map(|port| (port.pod, port.port, port.side_b)).collect();
    // NIC 4 is the fourth optical NIC.
    assert_eq!(failed, [(0, 1, false), (2, 3, false)]);
    let used = |pod: u32, port: u32| {
        places.circuits.iter().any(|circuit| {
            (circuit.pod_a, circuit.port_a) == (pod, port) || (circuit.pod_b, circuit.port_b) == (pod, port)
        })
    };
    assert!(!used(0, 1) && !used(2, 3) && used(0, 0));
    let graph = Moe::graph(checked.plan()).unwrap();
    let packets = |server: u32| {
        let of = graph.links.iter().find(|link| (link.from, link.to) == (server, 4));
        of.unwrap().capacity_gbps
    };
    assert_eq!([0, 1, 2, 3].map(packets), [800.0, 400.0, 800.0, 800.0]);
}
