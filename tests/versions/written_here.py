"""Samples of operators for which none is recorded and none is drawn by chance, by name; outputs are added to them."""

import torch

from versions.recorded import Given


def _t(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """1, 2, 3, ... in that shape."""
    count = torch.Size(sizes).numel()
    return torch.arange(1, count + 1).to(dtype).reshape(sizes)


def _indices(*values: int) -> torch.Tensor:
    return torch.tensor(values)


def _two() -> list[torch.Tensor]:
    return [_t(2, 3), _t(4)]


def _steps() -> list[torch.Tensor]:
    return [torch.ones(()) for _ in range(2)]


def _fused() -> dict[str, Given]:
    """The fused optimizers, whose learning rate is a number or a tensor."""
    adam: Given = {
        "self": _two(),
        "grads": _two(),
        "exp_avgs": _two(),
        "exp_avg_sqs": _two(),
        "max_exp_avg_sqs": _two(),
        "state_steps": _steps(),
        "beta1": 0.9,
        "beta2": 0.99,
        "weight_decay": 0.1,
        "eps": 1e-8,
        "amsgrad": True,
        "maximize": False,
        "grad_scale": torch.ones(()),
        "found_inf": torch.zeros(()),
    }
    sgd: Given = {
        "self": _two(),
        "grads": _two(),
        "momentum_buffer_list": _two(),
        "weight_decay": 0.1,
        "momentum": 0.9,
        "dampening": 0.0,
        "nesterov": False,
        "maximize": False,
        "is_first_step": False,
        "grad_scale": torch.ones(()),
        "found_inf": torch.zeros(()),
    }
    adagrad: Given = {
        "self": _two(),
        "grads": _two(),
        "state_sums": _two(),
        "state_steps": _steps(),
        "lr_decay": 0.1,
        "weight_decay": 0.1,
        "eps": 1e-8,
        "maximize": False,
        "grad_scale": torch.ones(()),
        "found_inf": torch.zeros(()),
    }
    found: dict[str, Given] = {}
    for name, given in (("adam", adam), ("adamw", adam), ("sgd", sgd), ("adagrad", adagrad)):
        for end, lr in (
            (("_", ".out"), 0.5),
            (("_.tensor_lr", ".tensor_lr_out"), torch.tensor(0.5)),
        ):
            found |= {f"_fused_{name}{e}": given | {"lr": lr} for e in end}
    return found


def _lists() -> dict[str, Given]:
    found: dict[str, Given] = {}
    for name in ("_foreach_addcdiv", "_foreach_addcmul"):
        given: Given = {"self": _two(), "tensor1": _two(), "tensor2": _two()}
        for end, scalars in (("Tensor", torch.tensor([1.0, 2.0])), ("ScalarList", [1.0, 2.0])):
            found |= {f"{name}_.{end}": given | {"scalars": scalars}}
            found |= {f"{name}.{end}_out": given | {"scalars": scalars}}
    unscale: Given = {"self": _two(), "found_inf": torch.zeros(1), "inv_scale": torch.ones(1)}
    scale: Given = {
        "self": torch.ones(1),
        "growth_tracker": torch.zeros(1, dtype=torch.int32),
        "found_inf": torch.zeros(1),
        "scale_growth_factor": 2.0,
        "scale_backoff_factor": 0.5,
        "growth_interval": 10,
    }
    return found | {
        "_amp_foreach_non_finite_check_and_unscale_": unscale,
        "_amp_foreach_non_finite_check_and_unscale.out": unscale,
        "_amp_update_scale_": scale,
        "_amp_update_scale.out": scale,
    }


def _powers() -> dict[str, Given]:
    base = _t(3, dtype=torch.float64)
    return {
        "float_power.Scalar_out": {"self": 2, "exponent": base},
        "float_power.Tensor_Scalar_out": {"self": base, "exponent": 2},
        "float_power.Tensor_Tensor_out": {"self": base, "exponent": base},
        "float_power_.Scalar": {"self": base, "exponent": 2},
        "float_power_.Tensor": {"self": base, "exponent": base},
    }


def _indexed() -> dict[str, Given]:
    scattered: Given = {
        "self": _t(3, 3),
        "dim": 0,
        "index": torch.tensor([[0, 1, 2]]),
        "reduce": "add",
    }
    put: Given = {"self": _t(4), "indices": [_indices(0, 2)], "values": _t(2)}
    renormed: Given = {
        "self": _t(4, 2),
        "indices": _indices(1, 2),
        "max_norm": 1.0,
        "norm_type": 2.0,
    }
    image, flat = torch.randn(1, 3, 2, 2), torch.randn(4, 3)
    places = torch.tensor([[[0, 1], [2, 0]]])
    loss: Given = {"weight": None, "reduction": 1, "ignore_index": -100}
    return {
        "_index_put_impl_": put,
        "embedding_renorm_": renormed,
        "embedding_renorm.out": renormed,
        "nll_loss.out": {"self": flat, "target": _indices(0, 1, 2, 0)},
        "nll_loss2d.out": {"self": image, "target": places},
        "nll_loss2d_forward.output": {"self": image, "target": places, **loss},
        "nll_loss2d_backward.grad_input": {
            "grad_output": torch.ones(()),
            "self": image,
            "target": places,
            **loss,
            "total_weight": torch.tensor(4.0),
        },
        "multilabel_margin_loss.out": {"self": flat, "target": torch.tensor([[0, -1, 1]] * 4)},
        "scatter.reduce_out": scattered | {"src": _t(1, 3)},
        "scatter_.reduce": scattered | {"src": _t(1, 3)},
        "scatter.value_reduce_out": scattered | {"value": 2.0},
        "scatter_.value_reduce": scattered | {"value": 2.0},
    }


def _images() -> dict[str, Given]:
    image, volume = torch.randn(1, 2, 4, 4), torch.randn(1, 2, 4, 4, 4)
    pad = [1] * 6
    padded = torch.randn(1, 2, 6, 6, 6)
    back2: Given = {
        "grad_output": torch.randn(1, 2, 8, 8),
        "output_size": [8, 8],
        "input_size": [1, 2, 4, 4],
    }
    back3: Given = {
        "grad_output": torch.randn(1, 2, 8, 8, 8),
        "output_size": [8, 8, 8],
        "input_size": [1, 2, 4, 4, 4],
    }
    scaled: Given = {"input": image, "output_size": None, "scale_factors": [2.0, 2.0]}
    found: dict[str, Given] = {
        "_upsample_bicubic2d_aa.out": {
            "self": image,
            "output_size": [8, 8],
            "align_corners": False,
        },
        "_upsample_nearest_exact3d.out": {"self": volume, "output_size": [8, 8, 8]},
        "upsample_bilinear2d.vec_out": scaled | {"align_corners": False},
        "upsample_nearest2d.vec_out": scaled,
        "_native_batch_norm_legit_no_training.out": {
            "input": image,
            "weight": torch.ones(2),
            "bias": torch.zeros(2),
            "running_mean": torch.zeros(2),
            "running_var": torch.ones(2),
            "momentum": 0.1,
            "eps": 1e-5,
        },
        "affine_grid_generator.out": {
            "theta": torch.randn(1, 2, 3),
            "size": [1, 2, 4, 4],
            "align_corners": False,
        },
        "reflection_pad2d_backward.grad_input": {
            "grad_output": torch.randn(1, 2, 6, 6),
            "self": image,
            "padding": [1] * 4,
        },
    }
    for name in ("_upsample_bicubic2d_aa_backward", "_upsample_lanczos2d_aa_backward"):
        found[f"{name}.grad_input"] = back2 | {"align_corners": False}
    for name in ("_upsample_nearest_exact2d_backward", "upsample_nearest2d_backward"):
        found[f"{name}.grad_input"] = back2
    for name in ("_upsample_nearest_exact3d_backward", "upsample_nearest3d_backward"):
        found[f"{name}.grad_input"] = back3
    for name in ("reflection_pad3d", "replication_pad3d"):
        found[f"{name}.out"] = {"self": volume, "padding": pad}
        found[f"{name}_backward.grad_input"] = {
            "grad_output": padded,
            "self": volume,
            "padding": pad,
        }
    return found


def _convolutions() -> dict[str, Given]:
    image, volume = torch.randn(1, 2, 6, 6), torch.randn(1, 2, 6, 6, 6)
    flat: Given = {"self": image, "weight": torch.randn(3, 2, 3, 3), "kernel_size": [3, 3]}
    deep: Given = {"self": volume, "weight": torch.randn(3, 2, 3, 3, 3), "kernel_size": [3, 3, 3]}
    steps: Given = {"bias": None, "stride": [1, 1], "padding": [0, 0]}
    deep_steps: Given = {"bias": None, "stride": [1] * 3, "padding": [0] * 3}
    backward: Given = flat | {
        "grad_output": torch.randn(1, 3, 4, 4),
        "stride": [1, 1],
        "padding": [0, 0],
    }
    gradients: Given = {
        "grad_input": torch.empty(1, 2, 6, 6),
        "grad_weight": torch.empty(3, 2, 3, 3),
        "grad_bias": torch.empty(3),
    }
    return {
        "_slow_conv2d_backward.grad_input": backward | gradients,
        "_slow_conv2d_backward.output_mask_out": backward | {"output_mask": [True, True, True]},
        "_slow_conv2d_forward.output": flat | steps,
        "conv_tbc.out": {
            "self": torch.randn(5, 1, 2),
            "weight": torch.randn(3, 2, 4),
            "bias": torch.randn(4),
        },
        "slow_conv3d.out": deep,
        "slow_conv3d_forward.output": deep | deep_steps,
        "slow_conv_dilated2d.out": flat,
        "slow_conv_dilated3d.out": deep,
        "slow_conv_transpose2d.out": flat | {"weight": torch.randn(2, 3, 3, 3)},
        "slow_conv_transpose3d.out": deep | {"weight": torch.randn(2, 3, 3, 3, 3)},
        "thnn_conv2d.out": flat,
    }


def _matrices() -> dict[str, Given]:
    square = torch.eye(3) * 2 + 0.1
    factors, pivots = torch.linalg.lu_factor(square)
    norm: Given = {"self": square, "p": 2, "dim": [0], "keepdim": False, "dtype": torch.float32}
    return {
        "_int_mm.out": {"self": _t(32, 32, dtype=torch.int8), "mat2": _t(32, 32, dtype=torch.int8)},
        "linalg_ldl_factor.out": {"self": square},
        "linalg_lu_factor.out": {"A": square},
        "linalg_solve_ex.out": {"A": square, "B": _t(3, 1)},
        "lu_solve.out": {"self": _t(3, 1), "LU_data": factors, "LU_pivots": pivots},
        "norm.ScalarOpt_dtype_out": {"self": square, "p": 2, "dtype": torch.float32},
        "norm.dtype_out": norm,
        "nuclear_norm.dim_out": {"self": square, "dim": [0, 1]},
        "fft_rfft.out": {"self": _t(4)},
        "softmax.int_out": {"self": square, "dim": 0},
        "glu_jvp.out": {"glu": _t(2), "x": _t(4), "dx": _t(4), "dim": 0},
        "view_copy.dtype_out": {"self": square, "dtype": torch.int32},
    }


def _set() -> dict[str, Given]:
    storage = torch.zeros(6).untyped_storage()
    part: Given = {"source": storage, "storage_offset": 1, "size": [2], "stride": [1]}
    return {
        "set_.source_Storage": {"self": _t(2), "source": storage},
        "set_.source_Storage_storage_offset": {"self": _t(2), **part},
    }


def samples() -> dict[str, Given]:
    """The arguments by the name in the dispatcher, without ``aten::``."""
    torch.manual_seed(0)
    parts = (_fused, _lists, _powers, _indexed, _images, _convolutions, _matrices, _set)
    return {name: given for part in parts for name, given in part().items()}
