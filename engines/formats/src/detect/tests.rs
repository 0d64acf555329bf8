use super::*;

#[test]
fn knows_each_format_by_its_first_bytes() {
    let cases: [(&[u8], Format); 91] = [
        (b"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8\n1\n", Format::SimaiText),
        (b"\xef\xbb\xbf  MICRO\n0\n", Format::SimaiText),
        (b"comm_type,comm_group,comm_group_size\n", Format::AicbCsv),
        (b"[ pp_stage0: [rank0, rank1] ]\ncomm_type,comm_group\n", Format::AicbCsv),
        (b"train_iter:10\nEmb:\n", Format::AiobTimes),
        (b"test\nTP:\nallreduce,: 300\n", Format::BusBandwidth),
        (b"id\tName\tParameter_size\tHidden_size\n", Format::AicbSpecification),
        (b"<!-- made by hand --><system version=\"1\">", Format::NcclTopology),
        (b"<?xml version=\"1.0\"?>\n<graphs version=\"1\">", Format::NcclGraphs),
        (b"<algo name=\"a2a\" proto=\"LL\">", Format::MscclAlgorithm),
        (b"<!DOCTYPE html><html>", Format::Html),
        (b"<svg>", Format::OtherXml),
        (b"layer,expert,topk_count,top1_count\n0,0,1,1\n", Format::ExpertLoads),
        (b"layer_from,expert_from,layer_to,expert_to,count\n", Format::JointLoads),
        (b"iteration 3 layer 0 num_global_tokens_per_expert: [1, 2]\n", Format::ExpertLoads),
        (b"{\"iteration\": 0, \"layer\": 0, \"tokens\": [[1]]}\n", Format::ExpertLoads),
        (b"{\"source\": \"EPLB\", \"weight\": [[90, 132]]}", Format::ExpertLoads),
        (b"{\"logical_count\": [[[1]]]}", Format::ExpertLoads),
        (b"<!-- never closed", Format::OtherXml),
        (b"\x05\x0a\x03abc", Format::ChakraBinary),
        (b"\x00\x01\x02\x03", Format::Unknown),
        (b"{\"workload_graph\": []}", Format::ChakraJson),
        (b"{\"schema\": \"1.0.2-chakra.0.0.4\"}", Format::PytorchTrace),
        (b"{\"distributedInfo\": {}}", Format::ProfilerTrace),
        (b"{\"schema\": \"lightbay.scenario/1\"}", Format::Scenario),
        (b"{\"schema\": \"lightbay.plan/1\", \"scenario\": {}}", Format::Plan),
        (b"{\"name\": \"x\", \"gpus_per_node\": 8}", Format::TacclTopology),
        (b"{\"name\": \"x\", \"gpus\": [{\"input_chunks\": 1}]}", Format::MscclppPlan),
        (
            b"{\"schema\": \"lightbay.names/1\", \"scenario\": {\"schema\": \"lightbay.scenario/1\"}}",
            Format::Names,
        ),
        (b"Model status\nOptimal\n", Format::Solution(Dialect::HighsRaw)),
        (b"Model status\nOptimal\n\n# Columns -3\n", Format::Solution(Dialect::HighsSparse)),
        (
            b"Columns\n    Index Status Lower Upper Primal Dual Type Name\n",
            Format::Solution(Dialect::HighsPretty),
        ),
        (b"# Solution of HiGHS\n# Objective value = 1\nx 1\n", Format::Solution(Dialect::HighsPairs)),
        (b"# Solution for model m\n# Objective value = 1\nx 1\n", Format::Solution(Dialect::Gurobi)),
        (b"<?xml version = \"1.0\"?>\n<CPLEXSolution version=\"1.2\">", Format::Solution(Dialect::Cplex)),
        (b"objective value:   5.18\nx  2 \t(obj:2)\n", Format::Solution(Dialect::Scip)),
        (b"Optimal - objective value 5.18\n", Format::Solution(Dialect::Cbc)),
        (b"c Problem:    m\nc Rows: 3\n", Format::Solution(Dialect::Glpk)),
        (b"Problem:    m\nRows:       3\nColumns:    4\n", Format::SolutionReport),
        (b"* a model\nNAME   m\nROWS\n", Format::Model),
        (b"[1, 2]", Format::OtherJson),
        (b"{\"model_type\": \"llama\", \"num_hidden_layers\": 32}", Format::ModelConfig),
        (b"\r\n  OCS 26-11-23\r\nM 1 COMPLD\r\n \"1,13\"\r\n;", Format::SwitchState(SwitchState::PolatisTl1)),
        (
            b"M 1 COMPLD\n \"1.1-2.1:SRCPORT=1.1,DSTPORT=2.1\"\n;",
            Format::SwitchState(SwitchState::CalientTl1),
        ),
        (
            b"M 31 COMPLD\n \"GGN:IPORTID=10001,OPORTID=0,CONNSTATE=single\"\n;",
            Format::SwitchState(SwitchState::GlimmerglassTl1),
        ),
        (
            b"{\"optical-switch:cross-connects\": {\"pair\": []}}",
            Format::SwitchState(SwitchState::PolatisRestconf),
        ),
        (
            b"<rpc-reply><data><cross-connects/></data></rpc-reply>",
            Format::SwitchState(SwitchState::PolatisNetconf),
        ),
        (b"{\"port-connection\": []}", Format::SwitchState(SwitchState::OcpOcs)),
        (b"{\"OCS_CROSS_CONNECT\": {}}", Format::SwitchState(SwitchState::SonicOcs)),
        (b"ocs_id,action,pod_a,port_a,pod_b,port_b\n", Format::SwitchState(SwitchState::Csv)),
        (b"switch,port,side,pod,pod_port,label,state\nocs-east,1,,leaf-a,,,\n", Format::PortMap),
        (b"StartDevice,StartPort,EndDevice,EndPort\r\nleaf-a,Ethernet0,ocs,1\r\n", Format::Hall),
        (
            b"plan_id,cable_id,status,type,zone,a_device,a_interface,a_role,b_device,b_interface,b_role\n",
            Format::Hall,
        ),
        (b"pod,ports\nleaf-a,4\n", Format::Hall),
        (b"switch,ports\nocs,8\n", Format::Hall),
        (b"pod,leaf-a,leaf-b\nleaf-a,0,2\nleaf-b,2,0\n", Format::Hall),
        (b"{\"pods\": {\"a\": 2}, \"switches\": {\"s\": 4}}", Format::Hall),
        (b"M 1 COMPLETED", Format::Unknown),
        (b"# Loads\n\n```\nlayer,expert,count\n0,0,5\n```\n", Format::Foreign(ForeignFile::Prose)),
        (b"Sample files\n============\n\nThey are unchanged.\n", Format::Foreign(ForeignFile::Prose)),
        (
            b"# show\nid     a_side    b_side\n-----  ----  ----\n2A-3B  2A  3B\n",
            Format::SwitchState(SwitchState::SonicOcs),
        ),
        (b"python pretrain.py --tensor-model-parallel-size 8\n", Format::Megatron),
        (b"{\"format\": \"lightbay.topology/1\", \"nodes\": []}", Format::Topology),
        (b"graph [\n node [ id 0 ]\n", Format::Network(NetworkForm::Gml)),
        (b"strict digraph \"a\" { x -> y }", Format::Network(NetworkForm::Dot)),
        (b"<?xml version=\"1.0\"?>\n<graphml xmlns=\"x\">", Format::Network(NetworkForm::GraphMl)),
        (b"source,target,gbps\na,b,1\n", Format::Network(NetworkForm::Edges)),
        (b"router 0 node 0 node 1 router 1\n", Format::Network(NetworkForm::Anynet)),
        (b"topology: [ Ring ]\nnpus_count: [ 4 ]\n", Format::Network(NetworkForm::Astra)),
        (b"4 2 1 0 3 H100\n3\n0 3 400Gbps 0.0005ms 0\n", Format::Network(NetworkForm::Ns3)),
        (
            b"{\"directed\": true, \"nodes\": [{\"id\": 1}], \"links\": [{\"source\": 1, \"target\": 1}]}",
            Format::Network(NetworkForm::NodeLink),
        ),
        (b"{\"scheduling-policy\": \"LIFO\"}", Format::Foreign(ForeignFile::AstraSystem)),
        (b"{\"hidden\": 1, \"num_blocks\": 96}", Format::Calculon),
        (b"{\"num_procs\": 1, \"tensor_par\": 4}", Format::Calculon),
        (b"{\"matrix\": {\"f\": {\"gflops_efficiency\": []}}}", Format::Calculon),
        (b"[{\"event_type\": \"fault_start\"}]", Format::Foreign(ForeignFile::FaultTrace)),
        (b"{\"0\": [0, 1],\n \"1\": [2, 3]}", Format::Foreign(ForeignFile::CommunicationGroups)),
        (b"[(0, 520, 8), (0, 1834, 8)]", Format::Foreign(ForeignFile::JobList)),
        (b"{\"sonic-ocs:input\": {}}", Format::Foreign(ForeignFile::SwitchChange)),
        (b"module sonic-ocs {\n  prefix ocs;\n", Format::Foreign(ForeignFile::Yang)),
        (b"// by hand\nk = 4;\nn = 2;\ntopology = mesh;\n", Format::Foreign(ForeignFile::BooksimConfig)),
        (b"%PDF-1.7\n", Format::Foreign(ForeignFile::Pdf)),
        (b"PK\x03\x04\x00", Format::Foreign(ForeignFile::Archive)),
        (b"version https://git-lfs.github.com/spec/v1\n", Format::Foreign(ForeignFile::LfsPointer)),
        (b"\x89PNG\r\n", Format::Foreign(ForeignFile::Picture)),
        (b"# A heading\n\nSome words.\n", Format::Foreign(ForeignFile::Prose)),
        (b"meta:\n  case_id: x\nserver_classes:\n", Format::Foreign(ForeignFile::ClusterClasses)),
        (b"source,topology,chassis\na,b,c\n", Format::Foreign(ForeignFile::OtherTable)),
        (b"apiVersion: v1\nkind: Pod\n", Format::Foreign(ForeignFile::OtherYaml)),
        (b" \n", Format::Empty),
        (b"hello", Format::Unknown),
    ];
    for (head, expected) in cases {
        assert_eq!(detect(head), expected, "{}", String::from_utf8_lossy(head));
    }
    assert_eq!(detect(b""), Format::Empty);
}

#[test]
fn opening_keeps_every_byte() {
    let text = b"MICRO\n0\n".repeat(20_000);
    let mut opened = open(&text[..], &Limits::default()).unwrap();
    assert_eq!((opened.format, opened.compressed), (Format::SimaiText, false));
    let mut out = Vec::new();
    opened.reader.read_to_end(&mut out).unwrap();
    assert_eq!(out, text);
}

#[test]
fn groups_of_traces_may_be_empty_or_in_any_order() {
    for groups in [&b"{}"[..], b" {\n}\n", b"{\"1\": [2, 3, 0, 1]}", b"{\"0\": [0, 1]}"] {
        assert!(may_be_groups(groups), "{groups:?}");
    }
    for other in [&b"{\"0\": {}}"[..], b"[[1, 0]]", b"{\"0\": [0.5, 1]}", b"{\"0\": [\"a\"]}", b"a"] {
        assert!(!may_be_groups(other), "{other:?}");
    }
}
