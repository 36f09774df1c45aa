"""Sphinx configuration."""

import os
import tempfile
from pathlib import Path

import sphinx_autosummary_accessors
from sphinx_gallery.sorting import ExplicitOrder

import evalci_accessor

# Each kernel says at its start that it listens on TCP, which is no warning about a page.
kernels = tempfile.TemporaryDirectory(prefix="evalci-docs-")
os.environ["IPYTHONDIR"] = kernels.name
profile = Path(kernels.name, "profile_default")
profile.mkdir()
(profile / "ipython_kernel_config.py").write_text("c.IPKernelApp.log_level = 40\n", encoding="utf-8")

project = "evalci-accessor"
author = "The evalci-accessor developers"
copyright = author
release = version = evalci_accessor.__version__

extensions = [
    "sphinx-mathjax-offline",
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_autosummary_accessors",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb"}  # generated pages take the first suffix
templates_path = ["_templates", sphinx_autosummary_accessors.templates_path]
# Tables are included by another page.
exclude_patterns = ["_build", "jupyter_execute", "examples/*.ipynb", "explanation/*_table.md"]

nitpicky = True  # a "see also" that leads nowhere is a warning

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
add_module_names = False

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "force"  # a cache would not see that the package changed
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True

# One page a script, with its output and pictures; every build runs them all, and no page holds what changes from build to build.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "examples",
    "filename_pattern": r"\.py$",
    "within_subsection_order": ExplicitOrder(
        [
            "quickstart.py",
            "rag_by_document.py",
            "conversation_turns.py",
            "paraphrases.py",
            "pass_at_k.py",
            "cube.py",
            "release_gate.py",
            "few_clusters.py",
            "own_data.py",
            "planning.py",
        ]
    ),
    "abort_on_example_error": True,
    "run_stale_examples": True,
    "capture_repr": (),
    "image_srcset": ["2x"],
    "default_thumb_file": str(Path(__file__).parent / "_static" / "table.svg"),
    "thumbnail_size": (640, 360),
    "min_reported_time": 1_000_000,
    "write_computation_times": False,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "evalci-accessor"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_show_sphinx = False
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
}
html_sidebars = {"index": [], "changelog": [], "examples/index": []}
