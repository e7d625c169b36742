"""The program ``msprof``: reads the folders PROF_* that aclprofInit makes, and writes tables, timelines, databases.

It needs Python 3.10 with its standard library, and neither PyTorch nor the native libraries.
"""
