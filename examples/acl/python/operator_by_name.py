"""Calls an operator by the name of its type: products of matrices, from a single-operator model.

atc writes the model from a description of the operator:

    source "$(torch-npu paths --cann-dir)/set_env.sh"
    atc --singleop=batch_matmul.json --soc_version=any --output=models
    python operator_by_name.py models
"""

import sys

import acl
import numpy as np
from device import Buffer, check, device

FLOAT = 0  # aclDataType
ND = 2  # ACL_FORMAT_ND


def main(arguments: list[str]) -> int:
    """Prints two products, and how far they are from numpy's."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    left = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    right = np.arange(24, dtype=np.float32).reshape(2, 4, 3) / 4
    with device() as stream:
        check(acl.op.set_model_dir(arguments[0]), "acl.op.set_model_dir")
        attr = acl.op.create_attr()
        check(acl.op.set_attr_bool(attr, "adj_x1", False), "acl.op.set_attr_bool")
        check(acl.op.set_attr_bool(attr, "adj_x2", True), "acl.op.set_attr_bool")
        descs = [acl.create_tensor_desc(FLOAT, array.shape, ND) for array in (left, right)]
        out = acl.create_tensor_desc(FLOAT, (2, 2, 4), ND)
        buffers = [Buffer(acl.get_tensor_desc_size(desc)) for desc in (*descs, out)]
        buffers[0].write(left)
        buffers[1].write(right)
        handles = [buffer.handle for buffer in buffers]
        ret = acl.op.execute_v2("BatchMatMul", descs, handles[:2], [out], handles[2:], attr, stream)
        check(ret, "acl.op.execute_v2")
        check(acl.rt.synchronize_stream(stream), "acl.rt.synchronize_stream")
        product = buffers[2].read("float32", [2, 2, 4])
        print(product)
        print("largest difference:", np.abs(product - left @ right.transpose(0, 2, 1)).max())
        acl.op.destroy_attr(attr)
        for desc in (*descs, out):
            acl.destroy_tensor_desc(desc)
        for buffer in buffers:
            buffer.free()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
