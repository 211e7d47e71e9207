"""For tools that ask for this file: the metadata are in pyproject.toml. `bash scripts/setup.sh` installs everything."""

from setuptools import setup

setup()
