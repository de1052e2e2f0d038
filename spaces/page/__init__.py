"""Show the page that all Spaces share. Each app.py describes one metric and calls `serve`.

Importing this package sets environment variables that libraries read when they are imported. So
the Hugging Face libraries use no network, and they and Gradio keep their files in a temporary
folder, which is removed when the server ends.
"""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

if sys.platform == "win32":
    raise ImportError(
        "A Space does not run on Windows, which cannot limit the memory and the time of a request "
        "as Linux does. Run it in the Windows Subsystem for Linux, or use the command at-k."
    )

# A bundled Space has its own copy of the package at_k.
_bundled = Path(__file__).resolve().parent / "lib"
sys.path.insert(0, str(_bundled if _bundled.exists() else _bundled.parents[2] / "shared"))

# A worker process inherits the folder that its parent made.
if not os.environ.get("HF_HOME", "").startswith(tempfile.gettempdir()):
    _folder = tempfile.mkdtemp(prefix="space-")
    os.environ |= {"HF_HOME": _folder, "GRADIO_TEMP_DIR": os.path.join(_folder, "gradio")}
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)
os.environ |= {"HF_HUB_OFFLINE": "1", "TQDM_DISABLE": "1"}
