#!/bin/bash
# The model of config-dense.json.
MODEL_ARGS=(
    --num-layers 28
    --hidden-size 3072
    --ffn-hidden-size 8192
    --num-attention-heads 24
    --group-query-attention
    --num-query-groups 8
    --swiglu
    --vocab-size 96000
    --bf16
    --sequence-parallel
)
# --tensor-model-parallel-size and the rest of the layout are set where the job is started.
