"""Compiles Ascend C for the host: preprocess, rewrite, compile, link."""

import hashlib
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from . import generate, host_compiler, tiling
from .errors import AscendcError, CompileError
from .paths import Installation, installation
from .rewrite import GLOBAL, Kernel, rewrite

_STANDARD = "-std=c++20"
_WANTS = re.compile(r'#\s*include\s*[<"]aclrtlaunch_\w+\.h[">]')


@dataclass(frozen=True)
class Options:
    """What to compile, and how.

    Attributes:
        sources: files with C++ and Ascend C.
        flags: of the preprocessor and compiler: ``-I``, ``-D``, ``-O3``, ``-W…``.
        links: of the linker: ``-L``, ``-l``, objects.
        tiling: headers of the host that describe tiling structures.
        header_folder: gets ``aclrtlaunch_<kernel>.h`` of each kernel; None: nothing is kept.
        depfile: gets what the result depends on, in the language of make.
        is_shared: make a shared library, not a program.
        check: compile for checked mode.
        runpath: where the result finds softnpu's libraries, folders with ``:`` between them; None: in this
            installation.
    """

    sources: tuple[Path, ...]
    flags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    tiling: tuple[Path, ...] = ()
    header_folder: Path | None = None
    depfile: Path | None = None
    is_shared: bool = True
    check: bool = False
    runpath: str | None = None


@dataclass(frozen=True)
class Unit:
    """A source as the compiler gets it."""

    source: Path
    text: str
    kernels: tuple[Kernel, ...]


@dataclass
class Build:
    """One call of the driver. Its temporary files are deleted with the ``with`` block of ``opened()``."""

    options: Options
    folder: Path
    compiler: list[str] = field(default_factory=host_compiler.find)
    installed: Installation = field(default_factory=installation)

    @property
    def headers(self) -> Path:
        """The folder with the generated headers."""
        return self.options.header_folder or self.folder

    def preprocess_command(self, source: Path) -> list[str]:
        """The command that prints a source without macros."""
        first = ["-include", "softnpu_kernel/launcher.h"]
        if self.options.tiling:
            first.append(f"-D{tiling.SOURCE}{tiling.operator_of(source.stem)}")
            first += ["-include", str(self.folder / "softnpu_tiling.h")]
        if self.options.check:
            first.append("-DSOFTNPU_KERNEL_CHECK=1")
        return [
            *self.compiler,
            *("-x", "c++", _STANDARD, "-E", f"-D__global__={GLOBAL}"),
            *(f"-I{self.installed.kernel_headers}", *first),
            *(f for f in self.options.flags),
            f"-I{self.headers}",
            f"-I{self.installed.acl_headers}",
            str(source),
        ]

    def compile_command(self, source: Path, number: int) -> list[str]:
        """The command that compiles what was rewritten."""
        own = ["-g", "-O1", "-fno-omit-frame-pointer"] if self.options.check else ["-g", "-O2"]
        flags = _without_headers(self.options.flags)
        written = str(self._written(source, number))
        result = str(self._result(source, number))
        return [*self.compiler, _STANDARD, "-fPIC", *own, *flags, "-c", written, "-o", result]

    def link_command(self, output: Path) -> list[str]:
        """The command that links everything."""
        folders = (self.installed.libraries, self.installed.cann)
        runpath = self.options.runpath or f"{folders[0]}:{folders[1]}"
        return [
            *self.compiler,
            *(["-shared", "-Wl,-Bsymbolic"] if self.options.is_shared else []),
            *(str(self._result(source, i)) for i, source in enumerate(self.options.sources)),
            *("-o", str(output)),
            *_with_torch_python(self.options.links),
            *(f"-L{folder}" for folder in folders),
            f"-Wl,-rpath,{runpath}",
            *("-Wl,--no-as-needed", "-lsoftnpu_kernel", "-lascendcl"),
        ]

    def commands(self, output: Path) -> list[str]:
        """All commands as a shell takes them."""
        lines = []
        for i, source in enumerate(self.options.sources):
            lines += [self.preprocess_command(source), self.compile_command(source, i)]
        return [shlex.join(line) for line in [*lines, self.link_command(output)]]

    def prepare(self) -> list[Unit]:
        """Preprocesses and rewrites every source, kernels before what launches them by ``aclrtlaunch_<kernel>.h``.

        Raises:
            AscendcError: a source or a launch is wrong.
        """
        if self.options.tiling:
            tiling.write(list(self.options.tiling), self.folder / "softnpu_tiling.h")
        wants = {source: bool(_WANTS.search(_read(source))) for source in self.options.sources}
        self.headers.mkdir(parents=True, exist_ok=True)
        result: dict[Path, Unit] = {}
        known: dict[str, Kernel] = {}
        for source in sorted(self.options.sources, key=lambda s: wants[s]):
            text = _run(self.preprocess_command(source), f"{source} cannot be preprocessed")
            rewritten = rewrite(text, str(source))
            kernels = tuple(k for k in rewritten.kernels if _is_new(k, known))
            for kernel in kernels:
                (self.headers / f"aclrtlaunch_{kernel.name}.h").write_text(generate.header(kernel))
            result[source] = Unit(source, rewritten.text + generate.entries(kernels), kernels)
        return [result[source] for source in self.options.sources]

    def key(self, units: Sequence[Unit]) -> str:
        """Differs where the result would: a hash of the sources with their headers, the flags and the compiler."""
        version = _run([*self.compiler, "--version"], "the compiler does not say its version")
        message = [version, *self.options.flags, *self.options.links, str(self.installed.libraries)]
        message += [
            f"{self.options.check}{self.options.is_shared}{self.options.runpath}",
            *(unit.text for unit in units),
        ]
        return hashlib.sha256("\0".join(message).encode()).hexdigest()[:16]

    def finish(self, units: Sequence[Unit], output: Path) -> None:
        """Compiles and links.

        Raises:
            CompileError: the compiler or linker refuses.
        """

        def compile_one(number: int) -> str:
            unit = units[number]
            self._written(unit.source, number).write_text(unit.text)
            return _run_quiet(
                self.compile_command(unit.source, number), f"{unit.source} does not compile"
            )

        if self.options.depfile is not None:
            _write_depfile(self.options.depfile, output, self._read_files(units))
        with ThreadPoolExecutor() as pool:
            warnings = list(pool.map(compile_one, range(len(units))))
        _say("".join(warnings))
        output.parent.mkdir(parents=True, exist_ok=True)
        _say(_run_quiet(self.link_command(output), f"{output} does not link"))

    def _read_files(self, units: Sequence[Unit]) -> list[Path]:
        """Every file that the result depends on: what the preprocessor read outside the temporary folder, and tiling."""
        names = {
            name for unit in units for name in re.findall(r'^# \d+ "([^"<>]+)"', unit.text, re.M)
        }
        files = {Path(name).absolute() for name in names}.union(
            header.absolute() for header in self.options.tiling
        )
        folder = self.folder.absolute()
        return sorted(f for f in files if f.is_file() and not f.is_relative_to(folder))

    def _written(self, source: Path, number: int) -> Path:
        return self.folder / f"{number}_{source.stem}.ii"

    def _result(self, source: Path, number: int) -> Path:
        return self.folder / f"{number}_{source.stem}.o"


@contextmanager
def opened(options: Options) -> Iterator[Build]:
    """A build with a temporary folder.

    Raises:
        AscendcError: no compiler, or an incomplete installation.
    """
    with tempfile.TemporaryDirectory(prefix="ascendc") as folder:
        yield Build(options, Path(folder))


def build(options: Options, output: Path) -> tuple[Kernel, ...]:
    """Compiles and links ``output``; returns the kernels that can be found in it by name.

    Raises:
        AscendcError: a source, the compiler or the installation; CompileError has the compiler's output.
    """
    with opened(options) as run:
        units = run.prepare()
        run.finish(units, output)
        return tuple(kernel for unit in units for kernel in unit.kernels)


# What the compiler says, and what its reader may not know.
_HINTS = (
    (r"\bDTYPE_(\w+)", "DTYPE_{0} is a macro of the build: add -DDTYPE_{0}=half, or another type"),
    (
        r"error: [^\n]*?\b(Matmul\w*|REGIST_MATMUL_OBJ)\b[^\n]*(?:not declared|undeclared)",
        '{0} belongs to the cube\'s objects: add #include "lib/matmul_intf.h"',
    ),
    (
        r"'?SOFTNPU_TILING_DATA'?",
        "GET_TILING_DATA needs the tiling structure: add --tiling=FILE, the host's header with BEGIN_TILING_DATA_DEF",
    ),
)


def _hint(output: str) -> str:
    for found, sentence in ((re.search(p, output), s) for p, s in _HINTS):
        if found:
            return "; " + sentence.format(*(group.strip("':,") for group in found.groups()))
    return ""


def _with_torch_python(links: Sequence[str]) -> list[str]:
    """Adds ``libtorch_python.so`` to ``libtorch_npu.so``, of which the official one needs it: programs do not name it."""
    folders = [Path(link.removeprefix("-L")) for link in links if link.startswith("-L")]
    if "-ltorch_npu" in links and any((f / "libtorch_python.so").exists() for f in folders):
        return [*links, *(["-ltorch_python"] if "-ltorch_python" not in links else [])]
    return list(links)


def _write_depfile(depfile: Path, output: Path, files: Sequence[Path]) -> None:
    """Writes what ``output`` depends on, as make reads it."""
    named = [str(file).replace(" ", "\\ ") for file in (output.absolute(), *files)]
    depfile.write_text(named[0] + ": " + " \\\n  ".join(named[1:]) + "\n")


def _is_new(kernel: Kernel, known: dict[str, Kernel]) -> bool:
    """Whether no source before has the kernel; one of a header is the first source's."""
    first = known.setdefault(kernel.name, kernel)
    if first.location != kernel.location:
        raise AscendcError(
            f"{kernel.location}: a kernel {kernel.name} is in {first.location} already: name it otherwise, since kernels"
            " are found by their names"
        )
    return first is kernel


def _read(source: Path) -> str:
    try:
        return source.read_text(errors="replace")
    except OSError as error:
        raise AscendcError(f"{source}: {error.strerror}: name a file with C++") from None


def _execute(command: Sequence[str], failure: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise CompileError(f"{failure}{_hint(done.stderr)}", done.stderr)
    return done


def _run(command: Sequence[str], failure: str) -> str:
    done = _execute(command, failure)
    _say(done.stderr)
    return done.stdout


def _run_quiet(command: Sequence[str], failure: str) -> str:
    return _execute(command, failure).stderr


def _say(text: str) -> None:
    if text:
        print(text, file=sys.stderr, end="")


def _without_headers(flags: Sequence[str]) -> list[str]:
    """The flags without those of the preprocessor, which has run."""
    left = []
    words = iter(flags)
    for word in words:
        if word in ("-D", "-I", "-isystem"):  # the value is the next word
            next(words, None)
        elif not word.startswith(("-D", "-I", "-isystem")):
            left.append(word)
    return left
