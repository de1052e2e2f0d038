"""What `import at_k` imports: NumPy, and none of the libraries that take seconds."""

import subprocess
import sys

SLOW = ("altair", "datasets", "evaluate", "pandas", "pyarrow", "scipy")


def test_importing_the_package_imports_no_slow_library():
    code = f"import sys, at_k; print([name for name in {SLOW} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
