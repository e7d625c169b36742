"""The command line of a checkout: set-up, build, tests, demo, benchmarks, wheel. Standard library only."""
