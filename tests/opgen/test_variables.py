"""Rows of environment variables become initializers that C++ includes."""

import pytest

from softnpu.opgen import environment
from softnpu.opgen.parse import TableError

HEAD = "name\ttype\tdefault\torigin\tread by\tvalues\tmeaning\twithout effect because\n"
FLAG = 'A_FLAG\tflag\t1\town\tc++\t\tsays "x"\t\n'
NUMBER = "A_NUMBER\tinteger\t\town\tc++\t0 to 16\tx\t\n"
IGNORED = "OLD_*\tignored\t\tofficial\t\t\tx\tnone is needed\n"


def test_rows_with_an_effect_are_initializers():
    assert environment.initializers(HEAD + FLAG + IGNORED + NUMBER, "t.tsv") == (
        '{"A_FLAG", Type::kFlag, "1", ""},\n{"A_NUMBER", Type::kInteger, "", "0 to 16", 0u, 16u},\n'
    )


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (FLAG + NUMBER + FLAG, "t.tsv:4: A_FLAG has a row already, in line 2"),
        (FLAG.replace("flag", "switch"), "t.tsv:2: no type switch; there are flag, choice, integer"),
        (NUMBER.replace("0 to 16", "a number"), "t.tsv:2: an integer takes 'least to most', not 'a number'"),
    ],
)  # fmt: skip
def test_a_malformed_row_is_named(rows, says):
    with pytest.raises(TableError, match=says.replace("(", r"\(")):
        environment.initializers(HEAD + rows, "t.tsv")


def test_the_command(tmp_path, capsys):
    table, output = tmp_path / "t.tsv", tmp_path / "made" / "rows.inc"
    table.write_text(HEAD + FLAG)
    assert environment.main(["--output", str(output), str(table)]) == 0
    assert output.read_text().endswith('{"A_FLAG", Type::kFlag, "1", ""},\n')
    table.write_text(HEAD + FLAG + FLAG)
    assert environment.main(["--output", str(output), str(table)]) == 1
    assert f"{table}:3: A_FLAG" in capsys.readouterr().err
