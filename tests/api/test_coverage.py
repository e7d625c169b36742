"""How much of the official Python API there is."""

from dev.api.coverage import missing, percent, report

# Percent of the names of tools/dev/api that are counted.
LEAST = 48


def test_the_names_of_the_official_api_are_there():
    gone = missing()
    assert percent(gone) >= LEAST, report(gone)
