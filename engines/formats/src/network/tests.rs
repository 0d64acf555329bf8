use super::*;

/// Links as `from>to rate latency`.
fn links(text: &str, directed: Option<bool>) -> (NetworkForm, Vec<String>, Vec<String>) {
    let made =
        read(text.as_bytes(), &Limits::default(), directed).unwrap_or_else(|problems| panic!("{problems}"));
    let network = made.value;
    let name = |node: u32| network.nodes[node as usize].name.clone();
    let rate = |link: &FileLink| match link.rate {
        None => format!("x{}", link.count),
        Some(FileRate::Plain(rate)) => format!("{rate}?"),
        Some(FileRate::GbytePerS(rate) | FileRate::GbytePerSOfTool(rate)) => format!("{rate} GB/s"),
    };
    let latency = |link: &FileLink| match link.latency {
        None => String::new(),
        Some(FileLatency::Us(us)) => format!(" {us} us"),
        Some(FileLatency::Cycles(cycles)) => format!(" {cycles} cycles"),
    };
    let lines = network
        .links
        .iter()
        .map(|link| format!("{}>{} {}{}", name(link.from), name(link.to), rate(link), latency(link)));
    let switches =
        network.nodes.iter().filter(|node| node.part == Some(NodePart::Switch)).map(|node| node.name.clone());
    (network.form, lines.collect(), switches.collect())
}

fn refused(text: &str) -> String {
    read(text.as_bytes(), &Limits::default(), None).unwrap_err().to_string()
}

#[test]
fn every_form_gives_the_links_that_it_means() {
    let graphml = r#"<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
        <key id="d0" for="edge" attr.name="bandwidth_gbps" attr.type="double"/>
        <key id="d1" for="node" attr.name="kind" attr.type="string"/>
        <graph edgedefault="undirected"><node id="a"/><node id="s"><data key="d1">switch</data></node>
        <edge source="a" target="s"><data key="d0">400</data></edge></graph></graphml>"#;
    let gml = "Creator \"x\"\ngraph [\n directed 0\n node [ id 0 label \"a\" ]\n node [ id 1 label \"s\" type \"Router\" ]\n \
               edge [ source 0 target 1 LinkSpeedRaw 4e11 ]\n]";
    let dot = "graph g { // a comment\n node [shape=box]; a; s [type=\"switch\", label=\"x;y\"];\n a--s [rate=\"400Gbps\"]; }";
    let node_link = r#"{"directed": false, "nodes": [{"id": "a"}, {"id": "s", "type": "switch"}],
        "links": [{"source": "a", "target": "s", "capacity": "50GB/s"}]}"#;
    let csv = "source,target,gbps\na,s,400\n";
    let expected = vec!["a>s 50 GB/s".to_owned(), "s>a 50 GB/s".to_owned()];
    for (text, form) in [
        (graphml, NetworkForm::GraphMl),
        (gml, NetworkForm::Gml),
        (dot, NetworkForm::Dot),
        (node_link, NetworkForm::NodeLink),
        (csv, NetworkForm::Edges),
    ] {
        let (found, links, switches) = links(text, None);
        assert_eq!((found, &links), (form, &expected));
        assert_eq!(switches.is_empty(), form == NetworkForm::Edges, "{form:?}");
    }
}

#[test]
fn directions_chains_and_parallel_links() {
    let (_, found, _) = links("digraph { a -> b -> c [latency_ns=500]; a -> b; c->\"a b\":n }", None);
    assert_eq!(found, ["a>b x2 0.5 us", "b>c x1 0.5 us", "c>a b x1"]);
    let (_, found, _) = links("# u v rate us\n0 1 25 0.5\n0 1 25 0.7\n1 1\n", Some(true));
    assert_eq!(found, ["0>1 50? 0.7 us"]);
    assert!(refused("0 1 25\n0 1\n").contains("only one of the two has a rate"));
    assert!(refused("source,target,rate\na,b,-3\n").contains("must be a rate"));
}

#[test]
fn dimensions_of_astra_sim_nest_from_the_inside() {
    let text = "topology: [ Ring, Switch ] # inner first\nnpus_count: [ 4, 2 ]\nbandwidth: [ 80.0, 25 ]\nlatency: [ 1000.0, 500 ]\n";
    let (form, found, switches) = links(text, None);
    assert_eq!(form, NetworkForm::Astra);
    // Two rings of four, 8 links each; four switches of two, 4 links each.
    assert_eq!(found.len(), 2 * 8 + 4 * 4);
    assert_eq!(switches, ["switch1.0", "switch1.1", "switch1.2", "switch1.3"]);
    for link in [
        "npu0>npu1 80 GB/s 1 us",
        "npu3>npu0 80 GB/s 1 us",
        "npu1>switch1.1 25 GB/s 0.5 us",
        "switch1.1>npu5 25 GB/s 0.5 us",
    ] {
        assert!(found.iter().any(|known| known == link), "{link}: {found:?}");
    }
    let (_, two, _) =
        links("topology: [ Ring ]\nnpus_count: [ 2 ]\nbandwidth: [ 50 ]\nlatency: [ 0 ]\n", None);
    assert_eq!(two, ["npu0>npu1 50 GB/s 0 us", "npu1>npu0 50 GB/s 0 us"]);
    let wrong =
        refused("topology: [ Ring, Star ]\nnpus_count: [ 4, 1 ]\nbandwidth: [ tbd, 1 ]\nlatency: [ 0, 0 ]\n");
    for part in [
        "topology of dimension 2 is 'Star'",
        "npus_count of dimension 2",
        "bandwidth of dimension 1 is 'tbd'",
    ] {
        assert!(wrong.contains(part), "{wrong}");
    }
}

#[test]
fn topologies_of_ns3_number_gpus_before_switches() {
    let text = "4 2 1 0 3 H100\n3\n0 3 400Gbps 0.0005ms 0\n1 3 400Gbps 0.0005ms 0\n2 3 100Gbps 1us 0\n";
    let (form, found, switches) = links(text, None);
    assert_eq!((form, switches), (NetworkForm::Ns3, vec!["nvswitch3".to_owned()]));
    assert_eq!(found.len(), 6);
    assert_eq!(found[0], "gpu0>nvswitch3 50 GB/s 0.5 us");
    assert!(
        refused("4 2 1 0 4 H100\n3\n0 3 400Gbps 0.0005ms 0\n").contains("announces 4 links, but 1 follow")
    );
    assert!(
        refused("4 2 1 0 1 H100\n2\n0 9 400Gbps 0.0005ms 0\n").contains("but the nodes are numbered 0 to 3")
    );
}

#[test]
fn routers_of_booksim_are_switches() {
    let (form, found, switches) = links("router 0 node 0 node 1 router 1 15\nrouter 1 node 2\n", None);
    assert_eq!((form, switches.len()), (NetworkForm::Anynet, 2));
    for link in ["n0>r0 x1 1 cycles", "r0>r1 x1 15 cycles", "r1>r0 x1 1 cycles"] {
        assert!(found.iter().any(|known| known == link), "{link}: {found:?}");
    }
}

#[test]
fn cut_and_strange_files_are_refused() {
    for text in [
        "graph { a -- b",
        "graph { a -- \"b }",
        "graph [ node [ id 0",
        "<graphml><graph edgedefault=\"directed\"><node id=\"a\"/><edge source=\"a\" target=\"b\"/></graph></graphml>",
        "{\"nodes\": [{\"id\": 1}], \"links\": [{\"source\": 1, \"target\": 2}]}",
        "graph { a; b }",
        "graph { a → b }",
        "graph { → }",
        "hello",
        "",
    ] {
        assert!(read(text.as_bytes(), &Limits::default(), None).is_err(), "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn damaged_files_end_in_problems_not_panics(at in 0usize..400, byte in 0u8..=255, form in 0usize..5) {
        let texts = [
            "graph g { a; s [type=\"switch\"]; a--s [rate=\"400Gbps\"]; subgraph c { x -- y:p:n } }",
            "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 LinkSpeedRaw 4e11 ] ]",
            "topology: [ Ring, Switch ]\nnpus_count: [ 4, 2 ]\nbandwidth: [ 80.0, 25 ]\nlatency: [ 1000.0, 500 ]\n",
            "4 2 1 0 3 H100\n3\n0 3 400Gbps 0.0005ms 0\n1 3 400Gbps 0.0005ms 0\n2 3 100Gbps 1us 0\n",
            "source,target,gbps\na,s,400\nb,s,1e3\n",
        ];
        let mut bytes = texts[form].as_bytes().to_vec();
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = read(bytes.as_slice(), &Limits::default(), None);
        let _ = read(&bytes[..at], &Limits::default(), None);
    }
}
