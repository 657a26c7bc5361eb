"""Packages and requirements. The top-level folders of `FOLDERS` ship inside `tf_charagram`."""

import runpy
from pathlib import Path

from setuptools import find_packages, setup

FOLDERS = [name for name in ("search", "tuning", "export") if Path(name, "__init__.py").is_file()]
README = Path("README.md")
#: Requirements without TensorFlow, each with an optional comment.
LIGHT = [
    line.partition("#")[0].strip()
    for line in Path("requirements-light.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
#: Where tensorflow-text has wheels, which only words, tags and `unicode_form` need.
HAS_TENSORFLOW_TEXT = (
    "python_version < '3.14' and (sys_platform == 'linux' or "
    "sys_platform == 'darwin' and platform_machine == 'arm64')"
)

EXTRAS = {
    "sklearn": ["scikit-learn>=1.6"],
    "hub": ["huggingface_hub>=1.0"],
    "parquet": ["pyarrow>=17"],
    "ray": ["ray[data]>=2.60"],
    "mteb": ["mteb>=2.26,<3"],
    "bayesian": ["scikit-learn>=1.6"],
    "completion": ["argcomplete>=3.5"],
}
TEST = [
    "pytest>=8.2",
    "pytest-cov>=5",
    "pytest-xdist>=3.6",
    "hypothesis>=6.112",
    "ruff==0.17.*",
    "mypy==2.4.*",
    "build>=1.2",
    "setuptools>=77",
    # Tests of the other extras are left out where these are not installed.
    *EXTRAS["sklearn"],
    *EXTRAS["hub"],
    *EXTRAS["parquet"],
    *EXTRAS["completion"],
]

# mkdocstrings breaks long signatures with ruff.
DOCS = ["mkdocs-material>=9.6,<10", "mkdocstrings[python]>=0.30,<2", "ruff==0.17.*"]

#: What `benchmarks/all.py` compares with; better in an environment without TensorFlow.
BENCH = [
    "matplotlib>=3.9",
    "torch",
    "model2vec[distill]>=0.6",
    "gensim>=4.4",
    "fasttext>=0.9.3",
    *EXTRAS["sklearn"],
    "sentence-transformers>=5",
]

setup(
    name="tf-charagram",
    version=runpy.run_path("tf_charagram/_version.py")["__version__"],
    description="Text embeddings from character n-grams and paraphrase pairs, in TensorFlow",
    long_description=README.read_text(encoding="utf-8") if README.is_file() else "",
    long_description_content_type="text/markdown",
    keywords="text embeddings, character n-grams, paraphrases, fuzzy matching, tensorflow, keras",
    author="The tf-charagram developers",
    license="Apache-2.0",
    license_files=["LICENSE"],
    classifiers=[
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Programming Language :: Python :: 3.14",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Typing :: Typed",
    ],
    packages=find_packages(include=["tf_charagram", "tf_charagram.*"])
    + [
        f"tf_charagram.{package}"
        for name in FOLDERS
        for package in find_packages(include=[name, f"{name}.*"])
    ],
    package_dir={f"tf_charagram.{name}": name for name in FOLDERS},
    package_data={
        "tf_charagram": [
            "py.typed",
            "data/downloads.json",
            "data/starter/*.tsv",
            "demo/page/*",
            "pretrained/*/*",
            "text/_algorithm/*.npz",
        ],
        "tf_charagram.export._serving": ["files/*", "triton_files/*"],
        "tf_charagram.search.linkage._columns": ["*.txt"],
    },
    entry_points={"console_scripts": ["charagram = tf_charagram.cli:main"]},
    python_requires=">=3.11",
    install_requires=[
        # tensorflow-text pins its minor version; without it, the newest is taken.
        "tensorflow>=2.21,<3",
        f"tensorflow-text>=2.21.1,<3; {HAS_TENSORFLOW_TEXT}",
        "keras>=3.14",
        "keras-tuner>=1.4.7",
        "tensorboard>=2.20",  # KerasTuner imports it and does not require it
        *LIGHT,
    ],
    extras_require={**EXTRAS, "test": TEST, "docs": DOCS, "bench": BENCH},
)
