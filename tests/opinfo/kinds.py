"""The kind of each OpInfo, which decides how much a correct result may differ from the exact one."""

from torch.testing._internal.opinfo.core import BinaryUfuncInfo, UnaryUfuncInfo

from torch_npu.accuracy import Kind


def _names(text: str) -> list[str]:
    return text.split()


# By the name of the OpInfo, without its variant. An operator that is not in the table follows its class in OpInfo, or
# is composed.
_SELECTION = _names("""
    H T __getitem__ alias_copy all amax amin aminmax any argmax argmin argsort argwhere as_strided as_strided_copy
    as_strided_scatter atleast_1d atleast_2d atleast_3d block_diag bool broadcast_tensors broadcast_to bucketize
    cartesian_prod cat chunk clamp clamp_max clamp_min clone column_stack combinations complex conj conj_physical
    constant_pad_nd contiguous copysign count_nonzero cummax cummin diag diag_embed diagflat diagonal diagonal_copy
    diagonal_scatter dsplit dstack eq equal expand expand_as expand_copy eye fft.fftshift fft.ifftshift fill flatten flip
    fliplr flipud fmax fmin full full_like gather ge gt heaviside hsplit hstack imag index_copy index_fill index_select
    isfinite isin isinf isnan isneginf isposinf isreal item kthvalue le linalg.diagonal logical_and logical_not
    logical_or logical_xor lt mH mT masked.amax masked.amin masked.argmax masked.argmin masked_fill masked_scatter
    masked_select max maximum median meshgrid min minimum mode movedim msort nan_to_num nanmedian narrow narrow_copy ne
    neg new_full new_ones new_zeros nextafter nn.functional.adaptive_max_pool1d nn.functional.adaptive_max_pool2d
    nn.functional.adaptive_max_pool3d nn.functional.channel_shuffle nn.functional.embedding nn.functional.hardshrink
    nn.functional.hardtanh nn.functional.max_pool1d nn.functional.max_pool2d nn.functional.max_pool3d
    nn.functional.max_unpool1d nn.functional.max_unpool2d nn.functional.max_unpool3d nn.functional.pad
    nn.functional.pixel_shuffle nn.functional.pixel_unshuffle nn.functional.relu nn.functional.relu6
    nn.functional.threshold nn.functional.unfold nn.functional.upsample_nearest nonzero nonzero_static ones ones_like
    permute permute_copy positive ravel real repeat repeat_interleave reshape reshape_as resolve_conj resolve_neg roll
    rot90 searchsorted select select_scatter sign signbit slice slice_scatter sort split split_list_args
    split_with_sizes split_with_sizes_copy squeeze squeeze_copy stack t t_copy take take_along_dim tensor_split tile topk
    trace_copy transpose transpose_copy tril triu unbind unbind_copy unflatten unfold unfold_copy unique
    unique_consecutive unsafe_chunk unsafe_split unsqueeze unsqueeze_copy view view_as view_as_complex view_copy vsplit
    vstack where zero_ zeros zeros_like ceil floor trunc frac to
""")
_ELEMENTWISE = _names("""
    nn.functional.gelu nn.functional.hardswish nn.functional.leaky_relu linspace arange
""")
_REDUCTION = _names("""
    cumprod cumsum embedding_bag index_add index_put mean masked.cumprod masked.cumsum masked.mean masked.prod masked.sum
    nanmean nansum nn.functional.adaptive_avg_pool1d nn.functional.adaptive_avg_pool2d
    nn.functional.adaptive_avg_pool3d nn.functional.avg_pool1d nn.functional.avg_pool2d nn.functional.avg_pool3d prod
    scatter_add sum sum_to_size trace
""")
_PRODUCT = _names("""
    __rmatmul__ addbmm addmm addmv addr baddbmm bmm dot inner kron linalg.multi_dot linalg.vecdot matmul mm mv
    nn.functional.bilinear nn.functional.conv1d nn.functional.conv2d nn.functional.conv3d
    nn.functional.conv_transpose1d nn.functional.conv_transpose2d nn.functional.conv_transpose3d nn.functional.linear
    outer tensordot vdot
""")
# Elementwise by their class in OpInfo, but with a difference of rounded numbers inside.
_COMPOSED = _names("""
    logaddexp logaddexp2 logit mvlgamma nn.functional.prelu nn.functional.rrelu nn.functional.tanhshrink
""")

_KINDS = {
    **dict.fromkeys(_SELECTION, Kind.SELECTION),
    **dict.fromkeys(_ELEMENTWISE, Kind.ELEMENTWISE),
    **dict.fromkeys(_REDUCTION, Kind.REDUCTION),
    **dict.fromkeys(_PRODUCT, Kind.PRODUCT),
    **dict.fromkeys(_COMPOSED, Kind.COMPOSED),
}


def kind_of(op, *, derivative: bool = False) -> Kind:
    """The kind of an OpInfo, or of its derivative: derivatives of products and sums are sums."""
    kind = _KINDS.get(op.name)
    if kind is None:
        elementwise = isinstance(op, UnaryUfuncInfo | BinaryUfuncInfo)
        kind = Kind.ELEMENTWISE if elementwise else Kind.COMPOSED
    if derivative and kind in (Kind.SELECTION, Kind.ELEMENTWISE):
        return Kind.COMPOSED
    return kind
