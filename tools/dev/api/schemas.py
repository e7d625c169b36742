"""`./dev api --schemas`: the official operators of the namespaces npu and atb, by family.

The tables are those that codegen reads, ``torch_npu/csrc/aten/schemas/*.tsv``. A schema exists if the dispatcher prints it as
the table has it.
"""

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence

from dev.paths import ROOT

TABLES = ROOT / "torch_npu" / "csrc" / "aten" / "schemas"
# What one schema is in the built package.
DONE, REFUSED, OTHER, ABSENT = "implemented", "not implemented", "another schema", "absent"


def official() -> dict[str, list[str]]:
    """The schemas of each table, by its name."""
    found = {}
    for path in sorted(TABLES.glob("*.tsv")):
        lines = path.read_text().splitlines()
        found[path.stem] = [line.split("\t")[0] for line in lines if line and line[0] != "#"]
    return found


def name_of(schema: str) -> tuple[str, str, str]:
    """Namespace, name and overload, which is ``default`` where the schema has none."""
    namespace, _, rest = schema.partition("(")[0].partition("::")
    base, _, overload = rest.partition(".")
    return namespace, base, overload or "default"


def states() -> dict[str, str]:
    """What each official schema is; imports ``torch_npu``."""
    import torch

    import torch_npu

    refused = {*torch_npu.custom_ops.NOT_IMPLEMENTED, *torch_npu.atb.NOT_IMPLEMENTED}

    def state(schema: str) -> str:
        namespace, base, overload = name_of(schema)
        packet = getattr(getattr(torch.ops, namespace), base, None)
        operator = getattr(packet, overload, None)
        if operator is None:
            return ABSENT
        if str(operator._schema) != schema:
            return OTHER
        return REFUSED if schema.partition("(")[0] in refused else DONE

    return {schema: state(schema) for listed in official().values() for schema in listed}


def report(found: Mapping[str, str]) -> str:
    """A line a family: how many schemas exist, are implemented, are not; then the schemas that do not exist."""
    tables = official()
    width = max(map(len, tables))
    lines = [f"{'family':{width}}  exist   of  implemented  not implemented"]

    def line(name: str, schemas: Sequence[str]) -> str:
        counts = Counter(found[schema] for schema in schemas)
        there = counts[DONE] + counts[REFUSED]
        return (
            f"{name:{width}}  {there:5} {len(schemas):4}  {counts[DONE]:11}  {counts[REFUSED]:15}"
        )

    lines += [line(name, schemas) for name, schemas in tables.items()]
    lines.append("")
    for namespace in ("npu", "atb"):
        lines.append(line(namespace, [s for s in found if s.startswith(f"{namespace}::")]))
    lines += [f"{state}: {schema}" for schema, state in found.items() if state in (OTHER, ABSENT)]
    return "\n".join(lines)


if __name__ == "__main__":
    json.dump(states(), sys.stdout)
