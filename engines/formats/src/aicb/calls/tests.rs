use super::fields::parse_ranks;
use super::*;

const HEADER: &str =
    "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count";

fn problems(text: &str) -> String {
    read(text.as_bytes(), &Limits::default()).unwrap_err().to_string()
}

#[test]
fn absent_values_quotes_and_iterations() {
    let text = format!(
        "[rank0 ~ rank3],,,,\n{HEADER}\n\
         CommType.all_reduce,CommGroup.tp_group,2,8,init.model_setup,None,None,,None,None,None,1\n\
         CommType.epoch_end,None,None,0,,None,None,,None,None,None,1\n\
         CommType.all_reduce,CommGroup.tp_group,2,64,forward.X,None,None,,1.5,,None,2\n\
         CommType.computation,,,\"((4096, 8), (8, 8))\",backward.Y,,,,2,,,\n\
         CommType.epoch_end,None,None,0,,None,None,,None,None,None,1\n\
         CommType.barrier,CommGroup.all,4,,step,None,None,,,,,1\n"
    );
    let calls = read(text.as_bytes(), &Limits::default()).unwrap();
    assert_eq!(calls.init_rows, 1);
    assert_eq!(calls.sizes, GroupSizes { tp: Some(2), dp: None, ep: None });
    let section = &calls.sections[0];
    assert_eq!(section.ranks, [0, 1, 2, 3]);
    assert_eq!(section.iterations, [0..2, 2..3]);
    let first = &section.calls[0];
    assert_eq!((first.bytes, first.elapsed_s, first.count), (64, Some(1.5e-3), 2));
    assert_eq!(first.phase, Phase::Pass(Pass::Forward));
    let second = &section.calls[1];
    assert_eq!((second.kind, second.group, second.bytes), (CallKind::Computation, None, 0));
    assert_eq!((second.elapsed_s, second.phase), (Some(2e-3), Phase::Pass(Pass::Backward)));
    assert_eq!(section.calls[2].kind, CallKind::Barrier);
}

#[test]
fn every_rejection_names_line_column_value_and_remedy() {
    let text = format!(
        "[ pp_stage1: [rank0, rank1] ]\n{HEADER}\n\
         a,b\n\
         CommType.all_redux,CommGroup.tp_group,2,8,step,,,,,,,1\n\
         CommType.all_reduce,CommGroup.tq_group,2,8,step,,,,,,,1\n\
         CommType.all_reduce,CommGroup.tp_group,0,8,step,,,,,,,1\n\
         CommType.all_reduce,CommGroup.tp_group,2,-8,step,,,,,,,1\n\
         CommType.all_reduce,CommGroup.tp_group,4,8,step,,,,,,,1\n\
         CommType.all_reduce,CommGroup.tp_group,4,,step,,,,,,,1\n\
         CommType.isend,CommGroup.pp_group,1,8,forward_step,,,recv_next,,,,1\n\
         CommType.isend,CommGroup.pp_group,1,8,forward_step,,,send_next,,,,2\n\
         CommType.all_reduce,None,,8,step,,,,,,,1\n\
         CommType.all_reduce,CommGroup.dp_group,4,8,step,,,,soon,,,1\n\
         CommType.all_reduce,CommGroup.dp_group,4,8,step,,,,,,,0\n\
         [ pp_stage1: [rank1] ]\n"
    );
    let all = problems(&text);
    for part in [
        "line 1: 'pp_stage1' is not the next stage; write pp_stage0",
        "line 3: has '2' fields, but the header has '12'",
        "line 4, comm_type: 'CommType.all_redux' is not a kind of call; did you mean 'all_reduce'?",
        "line 5, comm_group: 'CommGroup.tq_group' is not a group; did you mean 'tp_group'?",
        "line 6, comm_group_size: '0' is too small",
        "line 7, msg_size: '-8' is negative",
        "line 8, comm_group_size: '4' differs from '2' in line 7",
        "line 9, msg_size: is empty",
        "line 10, additional: 'recv_next' has no direction; a row 'isend' needs send_next or send_prev",
        "line 11, count: is '2', but must be 1 for a pipeline transfer",
        "line 12, comm_group: is empty in a row 'all_reduce'",
        "line 13, _elapsed_time: 'soon' is not a number",
        "line 14, count: '0' is too small",
        "stage 1: has no row inside an iteration",
        "stage 1: has '1' ranks, but stage 0 has '2'",
        "rank1: is listed twice",
    ] {
        assert!(all.contains(part), "{part} is not in\n{all}");
    }
}

#[test]
fn headers_are_needed_and_may_be_reordered() {
    assert!(problems("CommType.barrier,,,,,,,,,,,\n").contains("line 1: is before the header"));
    let lacking = problems("comm_type,comm_group,stage\nCommType.barrier,,step\n");
    assert!(
        lacking.contains("line 1: the header lacks 'comm_group_size', 'msg_size', 'additional'"),
        "{lacking}"
    );
    let twice = problems(&format!("{HEADER}\nCommType.barrier,,,,step,,,,,,,\n{HEADER}\n"));
    assert!(twice.contains("line 3: is a second header without a stage line"), "{twice}");
    let text = "comm_type,stage,additional,msg_size,comm_group_size,comm_group\n\
                CommType.all_gather,step,,64,4,CommGroup.dp_group\n";
    let calls = read(text.as_bytes(), &Limits::default()).unwrap();
    assert_eq!(calls.sections[0].calls[0].bytes, 64);
    assert!(calls.sections[0].ranks.is_empty());
    assert!(problems(&format!("[ pp_stage0: [] ]\n{HEADER}\n")).contains("contains no rank"));
}

#[test]
fn rank_lists_are_capped_before_they_are_made() {
    assert_eq!(parse_ranks("[rank2 ~ rank4]", 10).unwrap(), [2, 3, 4]);
    assert_eq!(parse_ranks("[ pp_stage0: [rank7, rank9] ]", 10).unwrap(), [7, 9]);
    assert!(parse_ranks("[rank0 ~ rank4294967295]", 10).unwrap_err().contains("lists more than"));
    assert!(parse_ranks("[rank9 ~ rank3]", 10).unwrap_err().contains("is descending"));
    assert!(parse_ranks("[rankx]", 10).unwrap_err().contains("'rankx]' is not a rank"));
    assert_eq!(parse_ranks("[rank5 ~ rank5]", 10).unwrap(), [5]);
}
