"""On PYTHONPATH every Python process has a disk without room: see tests/e2e/full_disk_child.py."""

from tests.e2e.full_disk_child import fill

fill()
