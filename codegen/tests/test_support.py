"""The support matrix: rows of operators with an aclnn function."""

from codegen import support
from codegen.model import AclnnOperator, AclnnRoute


def _operator(name, types):
    routes = (AclnnRoute("aclnnAdd", (), (), None, 2), AclnnRoute("aclnnAdds", (), (), "other", 3))
    flags = (False, False, False)
    return AclnnOperator(name, (), None, None, *flags, 1, routes, types, (), None, False, ())


def test_a_row_names_functions_and_data_types():
    operator = _operator("add.out", (("self", frozenset({"float16", "float32", "int64"})),))
    assert support.operators([operator]).splitlines()[2] == (
        "|  | `aclnnAdd`, `aclnnAdds` | float32, float16, int64 |"
    )


def test_an_entry_without_types_takes_all():
    assert support.operators([_operator("add.out", (("self", None),))]).endswith("| all |\n")
    assert support.operators([_operator("zero_", ())]).endswith("| all |\n")
