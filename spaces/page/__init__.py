"""The page that all Spaces share. Each app.py describes one metric and calls `interface.serve`.

Importing the package sets the environment variables of the Hugging Face libraries, which read them
once, when they are imported: they keep their files in a temporary folder and use no network.
"""

import os
import tempfile

# A worker process inherits the folder that its parent made.
if not os.environ.get("HF_HOME", "").startswith(tempfile.gettempdir()):
    os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="space-")
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1"}
