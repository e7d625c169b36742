"""Every `./dev` command in a document exists."""

import contextlib
import io
import re
import shlex

import pytest
from dev import bench
from dev.__main__ import VERBS
from dev.files import tracked
from dev.paths import ROOT
from dev.run import DevError

# Words of `./dev bench` that are followed by names of files.
OTHER = ([bench.COMPARE], [bench.GATE], [bench.TABLES])
_COMMAND = re.compile(r"`\./dev ([^`\n]+)`|^\./dev ([^\n]+)$", re.MULTILINE)


def commands():
    for document in tracked("*.md"):
        if document.name == "CHANGELOG.md":
            continue
        for match in _COMMAND.finditer(document.read_text()):
            text = match[1] or match[2]
            words = shlex.split(text.split(";")[0], comments=True)
            # VERB, WORD, N: words that a reader replaces.
            if not any(word.isupper() for word in words):
                yield pytest.param(words, id=f"{document.relative_to(ROOT)}: {text}")


@pytest.mark.parametrize("words", commands())
def test_the_command_is_taken(words):
    name, *arguments = words
    assert name in VERBS or name == "help"
    message, code = io.StringIO(), 0
    with contextlib.redirect_stderr(message), contextlib.redirect_stdout(message):
        try:
            if name in VERBS:
                options = VERBS[name].parser(name).read(arguments, VERBS)
                if name == "bench" and options.suites[:1] not in OTHER:
                    bench.check(options)
        except SystemExit as end:
            code = end.code
        except DevError as error:
            pytest.fail(str(error))
    assert code == 0, message.getvalue()
