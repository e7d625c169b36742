"""ONNX Runtime's official CANN wheel on softnpu: what it runs there is right, and what is refused has a known reason.

Run by `./dev clients onnxruntime-cann`, in an environment with the wheel.
"""

import re
from collections import Counter

import pytest
from cases import Outcome, cases, run

MODES = {"0": "operator by operator", "1": "graphs"}

# What errors say, and why a case does not run.
REFUSED = {
    r"not implemented: com.microsoft.(scan_body|loop_body|g1|g2)_": "the provider replaces nodes of a body before the loop",
    r"\((NonMaxSuppression|NonZero) -> .*computed from an input's elements": "the sizes of results depend on data",
    r"only supports? inference|is_training_mode_ was false": "the provider has no batch norm for training",
    r"dropout in training|not implemented: ai.onnx.(Bernoulli|Multinomial|Random\w+) ": "random numbers",
    r"not implemented: ai.onnx.(Unique) ": "the sizes of results depend on data",
    r"not implemented: ai.onnx.(String\w+|RegexFullMatch|ImageDecoder|TfIdf\w+) ": "strings, images in files",
    r"not implemented: ai.onnx.(Sequence\w+|SplitToSequence|ConcatFromSequence|Optional\w*) ": "sequences",
    r"is string: operators do not have this type|a cast to \w+ is not|quantization to int8": "types",
    r"operators do not have this type": "types below 8 bits",
}


@pytest.fixture(scope="module")
def table(pytestconfig):
    """Outcomes by mode; printed as counts at the end."""
    found: dict[str, dict[str, Outcome]] = {mode: {} for mode in MODES}
    yield found
    pytestconfig.pluginmanager.getplugin("capturemanager").suspend_global_capture()
    for mode, outcomes in found.items():
        counts = Counter(outcome.kind for outcome in outcomes.values())
        print(
            f"\nONNX Runtime's CANN provider, {MODES[mode]}: "
            + ", ".join(f"{n} {kind}" for kind, n in counts.most_common())
        )


@pytest.mark.parametrize("name", list(cases()))
@pytest.mark.parametrize("mode", MODES, ids=["operators", "graphs"])
def test_case(name, mode, table, tmp_path, capfd):
    outcome = run(cases()[name], mode, tmp_path, lambda: "".join(capfd.readouterr()))
    table[mode][name] = outcome
    if outcome.kind == "cpu" and mode == "0":
        pytest.skip("no node of it runs on CANN")
    if outcome.kind == "not comparable":
        pytest.skip(f"ONNX Runtime does not run it: {outcome.reason[:200]}")
    if outcome.kind == "refused":
        reasons = [why for text, why in REFUSED.items() if re.search(text, outcome.reason)]
        assert reasons, f"an unknown reason: {outcome.reason}"
        pytest.skip(f"refused: {reasons[0]}")
    assert outcome.kind in ("right", "specialized"), f"{outcome.kind} {outcome.reason}"
