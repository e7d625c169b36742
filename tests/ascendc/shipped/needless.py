"""Lines of shipped kernels that order pipes and whose absence makes no difference: by file and text, why."""

_LAST = "no instruction uses the buffer again"
_PAIR = "of the two inputs one is enough: either flag is set behind both copies"
_VECTOR = "the buffer is used by the vector pipe alone, which keeps its order"
_BLOCKS = "it orders blocks, and pipes only at its ends; races between blocks are not looked for"

_CUBE = "a wait for the cube, which waits for all pipes, is between the two"

NEEDLESS: dict[str, dict[str, str]] = {
    "add.asc": {"x_queue_.EnQue(x);": _PAIR, "y_queue_.FreeTensor(y);": _PAIR},
    "attention.asc": {"y_queue_.FreeTensor(y);": _CUBE},
    "linear.asc": {
        "sums_queue_.EnQue(sums);": _CUBE,
        "bias_queue_.FreeTensor(narrow_bias);": _CUBE,
        "sums_queue_.FreeTensor(sums);": _CUBE,
        "y_queue_.FreeTensor(y);": _CUBE,
    },
    "rms_norm.asc": {"if (tiles_ == 1) weight_queue_.FreeTensor(weight_tile_);": _LAST},
    "rms_norm_backward.asc": {
        "grad_queue_.EnQue(grad);": _PAIR,
        "x_queue_.EnQue(x);": _PAIR,
        "grad_queue_.FreeTensor(grad_tile_);": _PAIR,
        "x_queue_.FreeTensor(x_tile_);": _PAIR,
        "result_queue_.FreeTensor(space);": _VECTOR,
        "weight_queue_.FreeTensor(weight_tile_);": _LAST,
        "SyncAll();": _BLOCKS,
        "pipe_.Reset();": "SyncAll before it waits for all pipes",
    },
}
