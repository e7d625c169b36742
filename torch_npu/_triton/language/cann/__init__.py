"""``triton.language.extra.cann``: what Triton's language has on npu beside its own functions."""
