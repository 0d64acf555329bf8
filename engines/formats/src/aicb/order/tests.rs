use super::*;
use crate::Limits;
use crate::aicb::calls;

const HEADER: &str = "comm_type,comm_group,comm_group_size,msg_size,stage,additional";

/// A file with a stage per text. Words: `f`, `b` for a collective in a pass; `sn sp rn rp` for transfers of 64 bytes.
fn file(stages: &[&str]) -> Calls {
    let mut text = String::new();
    for (stage, words) in stages.iter().enumerate() {
        let section = format!("[ pp_stage{stage}: [rank{stage}] ]\n{HEADER}\n");
        text.push_str(&section);
        for word in words.split_whitespace() {
            let transfer = |kind: &str, phase: &str, additional: &str| {
                format!("{kind},pp_group,1,64,{phase}_step,{additional}\n")
            };
            text += &match word {
                "f" => "all_reduce,tp_group,2,8,forward.RowLinear,\n".to_owned(),
                "b" => "all_reduce,tp_group,2,8,backward.ColumnLinear,\n".to_owned(),
                "sn" => transfer("isend", "forward", "send_next"),
                "rp" => transfer("irecv", "forward", "recv_prev"),
                "sp" => transfer("isend", "backward", "send_prev"),
                // As in real files, in the steady phase.
                "rn" => transfer("irecv", "forward", "recv_next"),
                other => panic!("{other}"),
            };
        }
    }
    calls::read(text.as_bytes(), &Limits::default()).unwrap()
}

fn orders(stages: &[&str]) -> Vec<String> {
    let pipeline = derive(&file(stages), 0).unwrap();
    let line = |order: &Vec<Slot>| order.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    pipeline.orders.iter().map(line).collect()
}

fn problems(stages: &[&str]) -> String {
    derive(&file(stages), 0).unwrap_err().to_string()
}

/// 1F1B with two stages and three micro-batches, as Megatron lists it: transfers of the steady phase in pairs.
const FIRST: &str = "f f sn f f rn sn b b f f rn sn b b rn b b";
const LAST: &str = "rp f f b b rp sp f f b b rp sp f f b b sp";

#[test]
fn one_forward_one_backward_from_work_rows() {
    assert_eq!(orders(&[FIRST, LAST]), ["F1 F2 B1 F3 B2 B3", "F1 B1 F2 B2 F3 B3"]);
}

#[test]
fn the_same_from_transfers_alone() {
    let bare = |text: &str| text.replace(['f', 'b'], "");
    let (first, last) = (bare(FIRST), bare(LAST));
    assert_eq!(orders(&[&first, &last]), ["F1 F2 B1 F3 B2 B3", "F1 B1 F2 B2 F3 B3"]);
}

#[test]
fn the_middle_of_three_stages() {
    let expected = ["F1 F2 B1 B2", "F1 F2 B1 B2", "F1 F2 B1 B2"];
    let all_forward_first = ["f sn f sn rn b rn b", "rp f sn rp f sn rn b sp rn b sp", "rp f rp f b sp b sp"];
    assert_eq!(orders(&all_forward_first), expected);
    let one_forward_one_backward =
        ["f sn f sn rn b rn b", "rp f sn rp f rn sn b sp rn b sp", "rp f b rp sp f b sp"];
    let expected = ["F1 F2 B1 B2", "F1 F2 B1 B2", "F1 B1 F2 B2"];
    assert_eq!(orders(&one_forward_one_backward), expected);
    let bare = one_forward_one_backward.map(|text| text.replace(['f', 'b'], ""));
    assert_eq!(orders(&[&bare[0], &bare[1], &bare[2]]), expected);
    assert_eq!(derive(&file(&[&bare[0], &bare[1], &bare[2]]), 0).unwrap().without_work, 3);
}

#[test]
fn one_stage_alternates() {
    assert_eq!(orders(&["f f b b f b"]), ["F1 B1 F2 B2"]);
}

#[test]
fn transfers_are_counted_and_sized() {
    let pipeline = derive(&file(&[FIRST, LAST]), 0).unwrap();
    assert_eq!((pipeline.micro_batches, pipeline.transfers, pipeline.bytes), (3, 6, Some(64)));
}

#[test]
fn what_does_not_match_is_refused_with_both_counts() {
    let cut = FIRST.trim_end_matches("rn b b");
    assert!(
        problems(&[cut, LAST])
            .contains("stage 1 to stage 0: '3' rows with send_prev, but '2' rows with recv_next"),
    );
    let lost = LAST.replacen("rp ", "", 1);
    assert!(
        problems(&[FIRST, &lost])
            .contains("stage 0 to stage 1: '3' rows with send_next, but '2' rows with recv_prev")
    );
    assert!(
        problems(&["f sn b rn", "rp f sn b sp"])
            .contains("'send_next' is on stage 1, which has no neighbour in this direction")
    );
    assert!(problems(&["f f"]).contains("stage 0: has '1' forward and '0' backward passes"));
    assert!(problems(&["b"]).contains("has no forward pass"));
}

#[test]
fn sizes_must_be_equal_at_both_ends() {
    let mut calls = file(&["f sn rn b", "rp f b sp"]);
    calls.sections[1].calls[0].bytes = 65;
    let text = derive(&calls, 0).unwrap_err().to_string();
    assert!(text.contains("msg_size: '64' is sent, but '65' is received in line"), "{text}");
}

#[test]
fn an_order_that_waits_for_ever_is_refused() {
    // Stage 0 wants its backward pass before its second forward pass, stage 1 two forward passes first.
    let text = problems(&["f sn rn b f sn rn b", "rp f rp f b sp b sp"]);
    assert!(text.contains("stage 0: 'B1' waits forever"), "{text}");
}
