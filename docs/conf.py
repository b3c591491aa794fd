"""Settings of the documentation site: ``python3 run.py docs`` builds it."""

from pymc_exact_hmc import __version__

project = "pymc-exact-hmc"
author = "The pymc-exact-hmc developers"
copyright = author
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"pymc-exact-hmc {version}"
html_static_path: list[str] = []

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_numpy_docstring = True
napoleon_use_rtype = False
napoleon_attr_annotations = False

nitpicky = True
# Types in docstrings that are words, or classes of projects whose sites are not consulted.
nitpick_ignore_regex = [
    ("py:class", r"(pymc|pymc_exact_hmc|pytensor|pandas|numpy|optional|DataFrame).*"),
]
