"""The execution provider of ONNX Runtime: which nodes it takes, results, errors, its life."""

import numpy as np
import pytest

pytest.importorskip("onnxruntime")

from fresh import run_fresh
from graph.onnxruntime_provider import LIBRARY, cpu_session, run, session, taken
