"""Numbers of data types, ``torch_npu.float32`` and others: 256 and the aclDataType.

Operators of namespace npu take them where PyTorch has no dtype of that name, such as ``torch_npu.hifloat8``.
"""

_FIRST = 256
# The values are aclDataType's; int4 and the types of fewer than eight bits are stored packed.
_ACL = {
    "float32": 0,
    "float16": 1,
    "int8": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 6,
    "uint16": 7,
    "uint32": 8,
    "int64": 9,
    "uint64": 10,
    "float64": 11,
    "bool": 12,
    "string": 13,
    "complex64": 16,
    "complex128": 17,
    "bfloat16": 27,
    "int4": 29,
    "uint1": 30,
    "complex32": 33,
    "hifloat8": 34,
    "float8_e5m2": 35,
    "float8_e4m3fn": 36,
    "float8_e8m0fnu": 37,
    "float6_e3m2": 38,
    "float6_e2m3": 39,
    "float4_e2m1fn_x2": 40,
    "float4_e1m2fn_x2": 41,
}

#: The number of each data type by its name.
NUMBERS: dict[str, int] = {name: _FIRST + value for name, value in _ACL.items()}
