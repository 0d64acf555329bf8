//! Tests with machines and schedules of real users: the imported scenario, the plan, and lower bounds computed by hand
//! (bytes that must cross a cut, divided by the rate of the cut).

use super::support::Place;
use std::path::Path;

fn machine(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/resources/inputs/collectives");
    folder.join(name).display().to_string()
}

/// The checker refuses a plan in which hops from a switch take no time: 3 MB into g1 take 300 us at 10 GB/s.
#[test]
fn a_plan_that_is_too_fast_for_a_slow_port_is_refused() {
    let place = Place::new();
    let plan = machine("cut-through/too-fast.plan.json");
    for args in [&["check", &plan][..], &["check", &plan, "--exact"]] {
        place.run(args).exit(1).prints(&["sends[1] from sw to g1 arrives at 300 us", "violations"]);
    }
    place.run(&["show", &plan]).done().prints(&["which breaks 13 rules: its figures are not confirmed"]);
    for args in [
        &["compare", &plan, &plan][..],
        &["export", &plan, "--to", "sends", "-o", "-"],
        &["solve", &machine("cut-through/sw3.json"), "--hot-start", &plan, "-o", "p.json"],
    ] {
        place.run(args).exit(2).says(&["arrives at 300 us", "give a plan that passes `lightbay check`"]);
    }
}

/// One GPU has only 2 of 18 links: the import reports this, and this GPU determines the completion time of the plan (4
/// MB at 41.2 GB/s).
#[test]
fn a_machine_with_a_lame_port_is_told_and_waited_for() {
    let place = Place::new();
    let file = machine("cut-through/lame-port.xml");
    let set = ["--set", "output_buffer_bytes=4000000", "--set", "collective=broadcast"];
    let told = place.run(&[&["import", "nccl", &file, "-o", "m.json"], &set[..]].concat()).done();
    let line = "rank 2 (host 0x51, 0000:43:00.0) lists 2 links, but the other GPUs list 18";
    assert!(told.out.contains(line) || told.err.contains(line), "{}{}", told.out, told.err);
    place.run(&["show", "m.json"]).done().prints(&[line]);
    place.run(&["solve", "m.json", "-o", "p.json"]).done();
    place.run(&["check", "p.json", "--exact"]).done().prints(&["0 violations"]);
    let plan = place.json("p.json");
    let finish = plan["objective"]["value"].as_f64().unwrap();
    assert!((finish - 4e6 / 41_200.0).abs() < 1e-6, "{finish}");
}

/// The lower bound of AllGather: the data of all other GPUs must enter every GPU, or every island of two GPUs.
#[test]
fn dumps_of_machines_have_the_floors_of_their_links() {
    let place = Place::new();
    for (name, bytes, more, floor_us, said) in [
        (
            "hosts.xml",
            6e6,
            "",
            5e6 / 360_900.0,
            "rank 2 (host 0x3a52, 0004:01:00.0) lists 9 links, but the other GPUs list 18",
        ),
        ("socket-nics.xml", 4e6, "", 3e6 / 370_800.0, "4 GPUs, 1 switch, 8 links"),
        ("halves.xml", 4e6, "", 3e6 / 360_900.0, "4 GPUs are halves of 2 devices"),
        ("same-bridges.xml", 2e6, "", 1e6 / 24_000.0, "2 GPUs, 0 switches, 2 links"),
        ("islands.xml", 4e6, "", 2e6 / 48_000.0, "path between GPUs without links"),
        (
            "pcie-only.xml",
            4e6,
            "intra=pcie",
            3e6 / 24_000.0,
            "PCI Express to the CPU, 24 GB/s in each direction",
        ),
    ] {
        let (file, size) = (machine(name), format!("output_buffer_bytes={bytes}"));
        let mut asked = vec!["import", "nccl", &file, "--set", &size, "-o", "m.json", "--force"];
        if !more.is_empty() {
            place.run(&asked).exit(2).says(&["intra=pcie"]);
            asked.extend(["--set", more]);
        }
        place.run(&asked).done().prints(&[said]);
        place.run(&["solve", "m.json", "--method", "construct", "-o", "p.json", "--force"]).done();
        let metrics = place.json("p.json")["metrics"].clone();
        let floor = metrics["floor_us"].as_f64().unwrap();
        assert!((floor - floor_us).abs() < 1e-6, "{name}: {floor}, not {floor_us}");
    }
}

/// Three GPUs with 50 GB/s and 0.7 us between each pair, and chunks of 1 MB: each hop takes 20 us for the transmission.
#[test]
fn schedules_in_place_end_after_their_hops() {
    let place = Place::new();
    let network = machine("in-place/tri.json");
    let ring = std::fs::read_to_string(machine("in-place/ring3.xml")).unwrap();
    let apart = std::fs::read_to_string(machine("in-place/ring3-op.xml")).unwrap();
    place.write(
        "both.xml",
        ring.replace("inplace=\"1\" outofplace=\"0\"", "inplace=\"1\" outofplace=\"1\"")
            .replace("o_chunks=\"0\"", "o_chunks=\"3\""),
    );
    let limits = "minBytes=\"0\" maxBytes=\"4294967296\"";
    place.write("open.xml", apart.replace(limits, "minBytes=\"393216\" maxBytes=\"0\""));
    for (file, finish_us, replay_us, said) in [
        (machine("in-place/ring3.xml"), 80.0, 82.8, "executed: 9 output chunks"),
        (machine("in-place/pairs3.xml"), 40.0, 41.4, "executed: 9 output chunks"),
        (machine("in-place/ring3-op.xml"), 80.0, 82.8, "used from 0 to 4294967296 bytes"),
        ("both.xml".to_owned(), 80.0, 82.8, "executed: 9 output chunks"),
        ("open.xml".to_owned(), 80.0, 82.8, "used from 393216 bytes on, without an upper limit"),
    ] {
        place.run(&["import", "msccl", &network, &file, "-o", "p.json", "--force"]).done().prints(&[said]);
        let plan = place.json("p.json");
        let (finish, replay) = (&plan["objective"]["value"], &plan["metrics"]["replay_us"]);
        let near = |value: &serde_json::Value, us: f64| (value.as_f64().unwrap() - us).abs() < 1e-9;
        assert!(near(finish, finish_us) && near(replay, replay_us), "{file}: {finish}, {replay}");
    }
    let broken = machine("in-place/broken3.xml");
    let lacking = "holds chunk 2 of rank 0 + chunk 2 of rank 2, but it should contain";
    place.run(&["import", "msccl", &network, &broken, "-o", "q.json"]).exit(2).says(&[
        "gpu 0, output chunk 2",
        "gpu 1, output chunk 2",
        "gpu 2, output chunk 2",
        lacking,
    ]);
}

/// If the field for the number of channels is 0, NCCL uses its own number.
#[test]
fn hints_for_the_tuner_leave_the_channels_to_nccl() {
    let place = Place::new();
    let rows = |subject: &str, more: &[&str]| -> Vec<String> {
        let ran = place.run(&[&["export", subject, "--to", "nccl_tuner", "-o", "-"], more].concat()).done();
        ran.out.lines().map(str::to_owned).collect()
    };
    let import = |file: &str, collective: &str| {
        let (file, set) = (machine(file), format!("collective={collective}"));
        place.run(&["import", "nccl", &file, "--set", &set, "-o", "m.json", "--force"]).done();
    };
    import("tuner/nvswitch4.xml", "all_reduce");
    assert_eq!(
        rows("m.json", &[]),
        ["allreduce,0,262144,tree,simple,0,1,4", "allreduce,262145,1099511627776,ring,simple,0,1,4"]
    );
    for (collective, word) in
        [("all_gather", "allgather"), ("reduce_scatter", "reducescatter"), ("broadcast", "broadcast")]
    {
        import("tuner/nvswitch4.xml", collective);
        assert_eq!(rows("m.json", &[]), [format!("{word},0,1099511627776,ring,simple,0,1,4")]);
    }
    import("tuner/mesh4.xml", "all_reduce");
    let mesh = rows("m.json", &[]);
    assert!(!mesh.is_empty() && mesh.iter().all(|row| row.ends_with(",simple,0,1,4")), "{mesh:?}");
    for (preset, row) in [
        ("dgx2x1-allgather-1mb", "allgather,0,1099511627776,ring,simple,0,1,16"),
        ("a100x2-allgather-1gb", "allgather,0,1099511627776,ring,simple,0,2,16"),
        ("dgx1-allgather-200kb", "allgather,0,1099511627776,ring,simple,0,1,8"),
    ] {
        assert_eq!(rows(&format!("preset:{preset}"), &[]), [row]);
    }
    let reduce = rows("preset:ndv2x1-allreduce-64mb", &[]);
    assert!(reduce.iter().all(|row| row.contains(",simple,0,")), "{reduce:?}");
    let given = rows("preset:ndv2x1-allreduce-64mb", &["--set", "channels=24"]);
    assert!(given.len() == reduce.len() && given.iter().all(|row| row.contains(",simple,24,")), "{given:?}");
    let asked =
        ["network=h100", "network_size=2", "collective=all_reduce"].map(|set| ["--set", set]).concat();
    place.run(&[&["new", "collective", "-o", "h.json"], &asked[..]].concat()).done();
    assert_eq!(
        rows("h.json", &[]),
        ["allreduce,0,2097152,tree,simple,0,2,16", "allreduce,2097153,1099511627776,ring,simple,0,2,16"]
    );
    let many = &["export", "preset:h800x64-allgather-1gb", "--to", "nccl_tuner", "-o", "-"];
    place.run(many).exit(2).says(&["256"]);
    let refused = &["export", "preset:dgx1-alltoall-200kb", "--to", "nccl_tuner", "-o", "-"];
    place.run(refused).exit(2).says(&["all_reduce, all_gather, reduce_scatter or broadcast"]);
}
