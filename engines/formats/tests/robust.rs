//! No input makes a reader panic, and damage to a good file is a message with a place.
#![allow(clippy::unwrap_used, reason = "a failed expectation should fail the test")]

use lightbay_formats::aicb::{self, AicbInput, MergeOptions, merge};
use lightbay_formats::{Limits, detect};
use proptest::prelude::*;

const LIMITS: Limits = Limits { content_bytes: 1 << 20, line_bytes: 1 << 16, rows: 2000 };

fn swallow(bytes: &[u8]) {
    detect::detect(bytes);
    if let Ok(input) = aicb::read(bytes, "input", &LIMITS) {
        let options = MergeOptions { gpus: Some(64), pp_bytes: Some(1), ..MergeOptions::default() };
        for options in [MergeOptions::default(), options] {
            match merge(std::slice::from_ref(&input), &options) {
                Ok(merged) => assert!(!merged.workload.summary.to_text().is_empty()),
                Err(problems) => assert!(!problems.is_empty()),
            }
        }
    }
}

const TEXT: &str = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 2 vpp: 1 ga: 2 all_gpus: 8 \
    checkpoints: 0 checkpoint_initiates: 0 pp_comm 64.0\n5\n\
    grad_norm -1 1 ALLGATHER 80 1 NONE 0 1 REDUCESCATTER 160 100\n\
    embedding_layer -1 5000 ALLREDUCE 64 1 NONE 0 9 NONE 0 100\n\
    mlp_row -1 5000 ALLTOALL_EP 64 1 NONE 7 9 NONE 0 100\n\
    embedding_layer -1 5000 ALLREDUCE 64 1 NONE 0 9 NONE 0 100\n\
    mlp_row -1 5000 ALLTOALL_EP 64 1 NONE 7 9 NONE 0 100\n";
const CALLS: &str = "[ pp_stage0: [rank0, rank1] ]\n\
    comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count\n\
    CommType.all_reduce,CommGroup.tp_group,2,64,forward.RowLinear,None,None,,1.0,None,None,1\n\
    CommType.computation,,,\"(1, 2)\",forward.X,None,None,,2.0,None,None,1\n\
    CommType.isend,CommGroup.pp_group,1,64,forward_step,None,None,send_next,None,None,None,1\n\
    CommType.irecv,CommGroup.pp_group,1,64,backward_step,None,None,recv_next,None,None,None,1\n\
    CommType.all_reduce,CommGroup.tp_group,2,64,backward.RowLinear,None,None,,None,None,None,1\n\
    [ pp_stage1: [rank2, rank3] ]\n\
    comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count\n\
    CommType.irecv,CommGroup.pp_group,1,64,forward_step,None,None,recv_prev,None,None,None,1\n\
    CommType.all_reduce,CommGroup.tp_group,2,64,forward.RowLinear,None,None,,None,None,None,1\n\
    CommType.all_reduce,CommGroup.tp_group,2,64,backward.RowLinear,None,None,,None,None,None,1\n\
    CommType.isend,CommGroup.pp_group,1,64,backward_step,None,None,send_prev,None,None,None,1\n";
const KERNELS: &str =
    "train_iter:10\nEmb:\n time_gpu_avg: 7\natten_qkv:\n time_gpu_avg: 8\nmlp_gelu:\n time_gpu_avg: 9\n";
const TABLE: &str = "test\nTP:\nallreduce,: 300\nEP:\nalltoall,: null\nPP:\nbusbw: 47.5";

fn read(text: &str) -> AicbInput {
    aicb::read(text.as_bytes(), "input", &LIMITS).unwrap()
}

#[test]
fn the_models_of_the_mutations_are_good() {
    let text = merge(&[read(TEXT), read(KERNELS), read(TABLE)], &MergeOptions::default()).unwrap();
    assert_eq!((text.workload.dp, text.workload.micro_batches), (2, 2));
    let calls = merge(&[read(CALLS)], &MergeOptions::default()).unwrap();
    assert_eq!((calls.workload.summary.matched_transfers, calls.workload.gpus), (2, 4));
    // The measured computation and collective of the first stage.
    let stage = &calls.workload.stages[0];
    assert_eq!((stage.forward_s, stage.backward_s), (Some(2e-3), None));
    assert_eq!((stage.forward_collectives_s, stage.backward_collectives_s), (Some(1e-3), None));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        swallow(&bytes);
        let mut packed = vec![0x1f, 0x8b];
        packed.extend(&bytes);
        swallow(&packed);
    }

    #[test]
    fn a_damaged_file_never_panics(
        which in 0..4_usize,
        edits in proptest::collection::vec((any::<prop::sample::Index>(), "[ -~\\n\\t]{0,12}", 0..9_usize), 1..5),
    ) {
        let mut text = [TEXT, CALLS, KERNELS, TABLE][which].to_owned();
        for (place, insert, removed) in edits {
            let at = place.index(text.len() + 1);
            let end = (at + removed).min(text.len());
            text.replace_range(at..end, &insert);
        }
        swallow(text.as_bytes());
    }

    #[test]
    fn words_in_any_order_never_panic(words in proptest::collection::vec(
        prop::sample::select(vec![
            "HYBRID_CUSTOMIZED", "MICRO", "\n", "ep:", "pp:", "ga:", "all_gpus:", "pp_comm", "0", "1", "2", "8", "-1",
            "1e300", "18446744073709551615", "9999999999999", "NONE", "ALLREDUCE_DP_EP", "embedding_layer", "\"", ",",
            "[", "rank0", "~", "rank4294967295", "comm_type,comm_group,", "epoch_end", "TP:", "train_iter:", ":",
        ]), 0..80))
    {
        swallow(words.join(" ").as_bytes());
        swallow(format!("MICRO {}", words.join(" ")).as_bytes());
    }

    #[test]
    fn every_prefix_is_read_or_refused(which in 0..4_usize, cut in any::<prop::sample::Index>()) {
        let text = [TEXT, CALLS, KERNELS, TABLE][which];
        swallow(&text.as_bytes()[..cut.index(text.len() + 1)]);
    }
}
