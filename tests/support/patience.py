"""How long a test waits for another thread or process: longer than pytest lets any test take (`timeout` in
pyproject.toml), which alone decides that something hangs."""

PATIENT_S = 2_000
