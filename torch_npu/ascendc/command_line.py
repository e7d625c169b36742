"""``ascendc add_custom.cpp -o libadd.so``: compiles Ascend C for the software NPU."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .compiler import Options, build, opened
from .errors import AscendcError, CompileError
from .project import command as new_project

# Whose cores the library emulates: AI cores of one generation with the same local memories.
SOCS = (
    *(f"Ascend910B{n}" for n in ("1", "2", "2C", "3", "4", "4-1")),
    *(f"Ascend910_93{n}" for n in ("91", "92", "81", "82", "72", "62", "63")),
)
ARCHITECTURES = ("dav-2201",)
_SUFFIXES = (".cpp", ".cc", ".cxx", ".asc", ".c++")
_LINKED = (".o", ".a", ".so")

_EPILOG = """
Options of the C++ compiler are passed on: -I -D -U -O -W -f -m -l -L -Wl, -isystem and -include. A result whose name
ends with .so or .o is a shared library, which aclrtBinaryLoadFromData takes; any other is a program. CXX names the
compiler. Kernels check themselves where SOFTNPU_KERNEL_CHECK=1 is set when the program runs.

ascendc new NAME writes a project: kernel, host tiling, PyTorch binding, test, CMake program.
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ascendc", description=__doc__, epilog=_EPILOG, allow_abbrev=False
    )
    add = parser.add_argument
    add(
        "sources", nargs="*", help="files with C++ and Ascend C: .cpp, .asc; or .o, .a, .so to link"
    )
    add("-o", dest="output", type=Path, help="the result; by default lib<first source>.so")
    add("-c", dest="binary", action="store_true", help="make <first source>.o, to be loaded by ACL")
    add("-shared", action="store_true", help="make a shared library whatever its name ends with")
    add("--check", action="store_true", help="compile for checked mode: less optimised")
    add("--soc", default="Ascend910B1", help="the NPU, for example Ascend910B1")
    add("--npu-arch", default="dav-2201", help="the same by architecture: dav-2201")
    add("--tiling", type=Path, action="append", default=[], help="a host's header of tiling data")
    add("--header-dir", type=Path, help="keep the headers aclrtlaunch_<kernel>.h there")
    add("--depfile", type=Path, help="write what the result depends on, as make and Ninja read it")
    add("--runpath", help="where the result finds softnpu's libraries, such as '$ORIGIN/../lib'")
    add("--print-command", action="store_true", help="print the compiler's commands, do nothing")
    add("-x", dest="language", default="asc", help=argparse.SUPPRESS)
    return parser


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Own arguments, those of the compiler, those of the linker."""
    own: list[str] = []
    flags: list[str] = []
    links: list[str] = []
    pairs = {"-I": flags, "-D": flags, "-U": flags, "-isystem": flags, "-include": flags}
    pairs |= {"-l": links, "-L": links}
    todo = list(arguments)
    while todo:
        word = todo.pop(0)
        if word in pairs:
            if not todo:
                raise AscendcError(f"{word} needs a value")
            value = todo.pop(0)
            pairs[word] += [word, value] if len(word) > 2 else [word + value]
        elif word in ("-shared", "-o", "-c", "-x"):
            own.append(word)
            if word in ("-o", "-x") and todo:
                own.append(todo.pop(0))
        elif word.startswith(("-l", "-L", "-Wl,", "-pthread")):
            links.append(word)
        elif word.startswith("-std="):
            continue  # the headers are C++20; programs of an earlier standard are C++20 as well
        elif word == "-O":
            flags.append("-O2")
        elif word.startswith("-isystem"):
            flags += ["-isystem", word.removeprefix("-isystem")]
        elif word.startswith(("-I", "-D", "-U", "-O", "-W", "-f", "-m", "-g")):
            flags.append(word)
        elif word.endswith(_LINKED) and not word.startswith("-") and Path(word).exists():
            links.append(word)
        else:
            own.append(word)
    return own, flags, links


def _options(arguments: Sequence[str]) -> tuple[Options, Path, bool]:
    own, flags, links = _split(arguments)
    named = [word for word in own if word == "-o"]
    parsed = _parser().parse_args(_joined(own))
    if parsed.soc not in SOCS:
        raise AscendcError(f"--soc={parsed.soc} is not known: it takes {', '.join(SOCS)}")
    if parsed.npu_arch not in ARCHITECTURES:
        raise AscendcError(
            f"--npu-arch={parsed.npu_arch} is not known: it takes {', '.join(ARCHITECTURES)}"
        )
    if parsed.language not in ("asc", "c++"):
        raise AscendcError(f"-x {parsed.language} is not known: it takes asc, c++")
    if not parsed.sources:
        raise AscendcError("no source is named: ascendc add_custom.cpp -o libadd.so")
    if len(named) > 1:
        raise AscendcError("-o is given twice: one call makes one result")
    sources = tuple(Path(source) for source in parsed.sources)
    for source in sources:
        if source.suffix not in _SUFFIXES:
            raise AscendcError(f"{source} is no C++: sources end with {', '.join(_SUFFIXES)}")
        if not source.is_file():
            raise AscendcError(f"{source}: there is no such file")
    default = f"{sources[0].stem}.o" if parsed.binary else f"lib{sources[0].stem}.so"
    output = parsed.output or Path(default)
    if output.suffix in _SUFFIXES:
        raise AscendcError(f"-o {output} would overwrite a source: name a .so, .o or a program")
    is_shared = parsed.shared or parsed.binary or output.suffix in (".so", ".o")
    options = Options(
        sources=sources,
        flags=tuple(flags),
        links=tuple(links),
        tiling=tuple(parsed.tiling),
        header_folder=parsed.header_dir,
        depfile=parsed.depfile,
        is_shared=is_shared,
        check=parsed.check,
        runpath=parsed.runpath,
    )
    return options, output, parsed.print_command


def _joined(own: Sequence[str]) -> list[str]:
    """Options and then sources: argparse takes no positional arguments behind them otherwise."""
    parser_takes = {"-o", "-x", "--soc", "--npu-arch", "--tiling", "--header-dir", "--depfile"}
    parser_takes |= {"--runpath"}
    options, sources = [], []
    todo = list(own)
    while todo:
        word = todo.pop(0)
        if not word.startswith("-"):
            sources.append(word)
            continue
        options.append(word)
        if word in parser_takes and todo:
            options.append(todo.pop(0))
    return [*options, *sources]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; 0, or 1 after an error that it printed."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if words[:1] == ["new"]:
            return new_project(words[1:])
        options, output, only_prints = _options(words)
        if only_prints:
            with opened(options) as run:
                print("\n".join(run.commands(output)))
        else:
            build(options, output)
    except CompileError as error:
        print(error.output, file=sys.stderr, end="")
        print(f"ascendc: {error}", file=sys.stderr)
        return 1
    except (AscendcError, OSError) as error:
        print(f"ascendc: {error}", file=sys.stderr)
        return 1
    return 0
