"""onnx's node cases: each passes, or is refused for a reason that is known. A run has a part of them (--shard)."""

import re

import pytest

from graph.node_cases import cases, run

# What an error says of cases that do not pass, and why they do not.
REFUSED = {
    r"not implemented: ai.onnx.(Unique) ": "the sizes of results depend on data",
    r"not implemented: ai.onnx.(String\w+|RegexFullMatch|ImageDecoder) ": "strings, images in files",
    r"not implemented: ai.onnx.(Sequence\w+|SplitToSequence|ConcatFromSequence|Optional\w*) ": "sequences",
    r"not implemented: ai.onnx.(Bernoulli|Multinomial|Random\w+) ": "random numbers",
    r"dropout in training": "random numbers",
    r"is string: operators do not have this type": "strings",
    r"is no tensor": "sequences and optional values",
    r"a cast to \w+ is not implemented|operators do not have this type|quantization to int8": "types below 8 bits",
}


@pytest.mark.parametrize("name", list(cases()))
def test_case(name):
    outcome = run(cases()[name])
    if outcome.kind == "refused":
        reasons = [why for text, why in REFUSED.items() if re.search(text, outcome.reason)]
        assert reasons, f"an unknown reason: {outcome.reason}"
        pytest.skip(f"not implemented: {reasons[0]}")
    assert outcome.kind in ("passes", "specialized"), outcome.reason
