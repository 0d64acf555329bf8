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

/// Assumptions and notes of a file.
fn remarks(text: &str) -> String {
    let made =
        read(text.as_bytes(), &Limits::default(), None).unwrap_or_else(|problems| panic!("{problems}"));
    let assumed = made.assumed.iter().map(|one| format!("{} = {} ({})", one.what, one.value, one.set_with));
    assumed.chain(made.notes.iter().cloned()).collect::<Vec<_>>().join("\n")
}

#[test]
fn lists_with_both_orders_of_a_pair_are_directed() {
    let both = "source,target,capacity_gbyte_per_s\na,b,10\nb,a,50\n";
    let (_, found, _) = links(both, None);
    assert_eq!(found, ["a>b 10 GB/s", "b>a 50 GB/s"]);
    assert!(remarks(both).contains("one direction, because the list has every pair of nodes in both orders"));
    let one = "a,b,10\nb,c,50\n";
    assert_eq!(links(one, None).1.len(), 4);
    assert!(remarks(one).contains("direction of each line = a link in both directions (directed=)"));
    // With a single pair in both orders, the other lines may mean either.
    let mixed = "a,b,10\nb,a,50\nb,c,50\n";
    assert!(refused(mixed).contains("1 of 2 pairs of nodes in both orders"), "{}", refused(mixed));
    assert_eq!(links(mixed, Some(true)).1, ["a>b 10?", "b>a 50?", "b>c 50?"]);
    assert_eq!(links(mixed, Some(false)).1, ["a>b 60?", "b>a 60?", "b>c 50?", "c>b 50?"]);
    // A table of Gephi states the direction, and then nothing is assumed.
    let stated = "source,target,gbps,type\na,b,80,Directed\nb,c,400,Directed\na,c,8,Undirected\n";
    assert_eq!(links(stated, None).1, ["a>b 10 GB/s", "a>c 1 GB/s", "b>c 50 GB/s", "c>a 1 GB/s"]);
    assert_eq!(remarks(stated), "");
    let said = read(stated.as_bytes(), &Limits::default(), Some(true)).unwrap_err().to_string();
    assert!(said.contains("directed: has no effect"), "{said}");
    let json = r#"{"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1}, {"source": 1, "target": 0}]}"#;
    assert!(refused(json).contains("directed: is missing"), "{}", refused(json));
    assert_eq!(links(&json.replacen('{', "{\"directed\": true, ", 1), None).1.len(), 2);
}

#[test]
fn only_one_attribute_can_be_the_rate() {
    let load = "source,target,capacity_gbps,used_gbps\na,b,400,37\n";
    assert_eq!(links(load, None).1[0], "a>b 50 GB/s");
    assert!(remarks(load).contains("not taken over: used_gbps of links"), "{}", remarks(load));
    for (columns, cells) in
        [("gbps,gbyte_per_s", "100,50"), ("gbyte_per_s,gbps", "50,100"), ("rate,gbps", "8,8")]
    {
        let said = refused(&format!("source,target,{columns}\na,b,{cells}\n"));
        let (one, other) = columns.split_once(',').unwrap();
        assert!(said.contains(&format!("two different rates: {one} and {other}")), "{said}");
    }
    assert_eq!(links("source,target,gbps,gbyte_per_s\na,b,400,50\n", None).1[0], "a>b 50 GB/s");
    assert!(refused("source,target,latency_us,delay_ns\na,b,1,2\n").contains("two different latencies"));
}

#[test]
fn rates_and_latencies_are_read_in_every_unit() {
    for (column, value, rate) in [
        ("bandwidth_mbps", "100000", "12.5 GB/s"),
        ("bps", "8e9", "1 GB/s"),
        ("link_tbps", "0.4", "50 GB/s"),
        ("rate_mbyte_per_s", "2000", "2 GB/s"),
        ("GBps", "50", "50 GB/s"),
        ("bandwidth_GBps", "50", "50 GB/s"),
        ("MBps", "2000", "2 GB/s"),
        ("link GB/s", "50", "x1"),
        ("Gbps", "400", "50 GB/s"),
        ("speed", "100", "100?"),
    ] {
        assert_eq!(
            links(&format!("source,target,{column}\na,b,{value}\n"), None).1[0],
            format!("a>b {rate}")
        );
    }
    assert_eq!(links("source,target,latency_s\na,b,1e-6\n", None).1[0], "a>b x1 1 us");
}

#[test]
fn keys_of_graphml_have_defaults() {
    let text = r#"<graphml><key id="d0" for="edge" attr.name="bandwidth_gbps"><default>100</default></key>
        <key id="d1" for="node" attr.name="kind"><default>gpu</default></key>
        <graph edgedefault="directed"><node id="a"/><node id="s"><data key="d1">switch</data></node>
        <edge source="a" target="s"/><edge source="s" target="a"><data key="d0">400</data></edge></graph></graphml>"#;
    let (_, found, switches) = links(text, None);
    assert_eq!(
        (found, switches),
        (vec!["a>s 12.5 GB/s".to_owned(), "s>a 50 GB/s".to_owned()], vec!["s".to_owned()])
    );
    let made = read(text.as_bytes(), &Limits::default(), None).unwrap().value;
    assert_eq!(made.nodes[0].part, Some(NodePart::Gpu));
    assert!(refused("digraph { node [kind=switch]; a -> b }").contains("sets the type of every 'node'"));
}

#[test]
fn labels_name_numbered_nodes_and_nodes_have_chassis() {
    let graphml = r#"<graphml><key id="n0" for="node" attr.name="label"/><key id="n1" for="node" attr.name="chassis"/>
        <graph edgedefault="directed"><node id="0"><data key="n0">c0.g0</data><data key="n1">4</data></node>
        <node id="1"><data key="n0">c1.g0</data><data key="n1">7</data></node><edge source="0" target="1"/></graph></graphml>"#;
    let dot = "digraph { 0 [label=\"c0.g0\", chassis=4]; 1 [label=\"c1.g0\", chassis=7]; 0 -> 1 }";
    let node_link = r#"{"directed": true, "nodes": [{"id": 0, "name": "c0.g0", "chassis": 4},
        {"id": 1, "label": "c1.g0", "name": "x", "chassis": 7}], "links": [{"source": 0, "target": 1}]}"#;
    let gml = "graph [ directed 1 node [ id 0 label \"c0.g0\" chassis 4 ] node [ id 1 label \"c1.g0\" chassis 7 ] edge [ source 0 target 1 ] ]";
    for text in [graphml, dot, node_link, gml] {
        assert_eq!(links(text, None).1, ["c0.g0>c1.g0 x1"], "{text}");
        let made = read(text.as_bytes(), &Limits::default(), None).unwrap().value;
        assert_eq!(
            made.nodes.iter().map(|node| node.chassis).collect::<Vec<_>>(),
            [Some(0), Some(1)],
            "{text}"
        );
    }
    // Ids that are names stay, as do ids whose labels are not names of one node.
    assert_eq!(links("digraph { a [label=x]; 0 [label=a]; a -> 0 }", None).1, ["a>0 x1"]);
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
    let (form, found, switches) = links("router 0 node 0 node 1 router 1 15\nrouter 1 node 2 500\n", None);
    assert_eq!((form, switches.len()), (NetworkForm::Anynet, 2));
    for link in ["n0>r0 x1 1 cycles", "n2>r1 x1 500 cycles", "r0>r1 x1 15 cycles", "r1>r0 x1 1 cycles"] {
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

#[test]
fn names_with_separators_and_comment_signs_are_read() {
    let text = "# a ring\nsource,target,gbyte_per_s,latency_us,type\n#0,\"g,1\",10,1,Directed\n\
                \"g,1\",#0,11,1,Directed\n# end\n\"g\"\"2\",#0,12,1,Directed\n";
    assert_eq!(links(text, None).1, ["#0>g,1 10 GB/s 1 us", "g,1>#0 11 GB/s 1 us", "g\"2>#0 12 GB/s 1 us"]);
    // Without a header, such a line is a comment.
    assert_eq!(links("# a b 3\na b 10\nb a 10\n", None).1.len(), 2);
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
