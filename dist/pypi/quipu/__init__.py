"""The quipu program: `quipu` on the command line, its path for SDKs that take one."""

import os
import sys
from pathlib import Path


def binary_path() -> str:
    """The path of the program."""
    return str(Path(__file__).parent / "bin" / "quipu")


def main() -> None:
    """Becomes the program."""
    program = binary_path()
    os.execv(program, [program, *sys.argv[1:]])
