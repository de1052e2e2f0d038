"""Write the fixtures of SWE-bench with its own `make_run_report`: three runs of four instances.

Made with swebench 5.0.2 on Python 3.11.7 (`pip install swebench`). Run it as
`python make_swe_bench.py`. The patches are not applied, which needs Docker: the logs of each
instance, from which the report is made, are ours.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "fixtures" / "swe_bench"
MODEL = "org/replay-1.5b"
RUNS: dict[
    str, dict[str, Any]
] = {  # by instance: "": no patch; None: no prediction; or what its logs say
    "first": {"a__a-1": "resolved", "a__a-2": "unresolved", "b__b-1": "resolved", "b__b-2": ""},
    "second": {"a__a-1": "resolved", "a__a-2": "timeout", "b__b-1": "network", "b__b-2": "error"},
    "third": {"a__a-1": "unresolved", "a__a-2": "resolved", "b__b-1": "resolved", "b__b-2": None},
}


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        from swebench.harness.constants import (
            LOG_INSTANCE,
            LOG_REPORT,
            LOG_TEST_OUTPUT,
            RUN_EVALUATION_LOG_DIR,
        )
        from swebench.harness.reporting import make_run_report

        for run, results in RUNS.items():
            predictions = {}
            for instance, result in results.items():
                if result is None:
                    continue
                predictions[instance] = {
                    "instance_id": instance,
                    "model_name_or_path": MODEL,
                    "model_patch": result and "diff --git a/a.py b/a.py\n",
                }
                logs = RUN_EVALUATION_LOG_DIR / run / MODEL.replace("/", "__") / instance
                logs.mkdir(parents=True)
                if result in ("resolved", "unresolved"):
                    report = {instance: {"resolved": result == "resolved"}}
                    (logs / LOG_REPORT).write_text(json.dumps(report))
                if result == "network":
                    (logs / LOG_TEST_OUTPUT).write_text("Could not resolve host: github.com\n")
                if result == "timeout":
                    (logs / LOG_INSTANCE).write_text("Timeout error: 1800 seconds exceeded.\n")
            dataset = [{"instance_id": instance} for instance in results]
            make_run_report(predictions, dataset, run, report_dir=str(FOLDER))
        os.chdir(FOLDER)


if __name__ == "__main__":
    main()
