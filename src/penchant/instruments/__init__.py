"""The instruments, a folder each, and what they have in common."""

from pathlib import Path

from penchant.wording.phrases import register

for _folder in Path(__file__).parent.iterdir():
    register(_folder)
