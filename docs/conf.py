"""Sphinx's settings of the documents' site; `./dev docs` builds it."""

project = "torch_npu on softnpu"
author = "the torch_npu developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = project
html_show_copyright = False
html_static_path = ["tables.css"]
html_css_files = ["tables.css"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "description"
# Sphinx reads the whole checkout: its pages are the documents that docs/index.md lists, wherever they are.
root_doc = "docs/index"
include_patterns = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/**",
    "softnpu/README.md",
    "softnpu/fusion/README.md",
    "torch_npu/csrc/README.md",
]
exclude_patterns = [".*", "build*", "dist"]
