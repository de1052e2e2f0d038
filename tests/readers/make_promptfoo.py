"""Write the fixtures of promptfoo with its own `eval --repeat 4`, with a provider of ours.

Made with promptfoo 0.123.1 on Node 20 (`npm install promptfoo`). Run it as
`python make_promptfoo.py FOLDER_OF_NODE_MODULES`. The provider replays answers, and fails once.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent / "fixtures" / "promptfoo"

ANSWERS = {"1+1": ["2", "3", "2", "2"], "2+2": ["4", "5", "6", "error"], "3+3": ["6"] * 4}
PROVIDER = """
const answers = %s;
const asked = {};
module.exports = class {
  id() { return "replay"; }
  async callApi(prompt, context) {
    const question = context.vars.question;
    asked[question] = (asked[question] ?? -1) + 1;
    const answer = answers[question][asked[question]];
    return answer === "error" ? { error: "the connection was lost" } : { output: answer };
  }
};
"""


def main():
    promptfoo = Path(sys.argv[1]).resolve() / "node_modules" / ".bin" / "promptfoo"
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "replay.js").write_text(PROVIDER % json.dumps(ANSWERS))
        tests = [
            {"vars": {"question": question}, "assert": [{"type": "equals", "value": value}]}
            for question, value in (("1+1", "2"), ("2+2", "4"), ("3+3", "6"))
        ]
        config = {"prompts": ["What is {{question}}?"], "providers": ["file://replay.js"]}
        (work / "promptfooconfig.json").write_text(json.dumps(config | {"tests": tests}))
        environment = {
            **os.environ,
            "PROMPTFOO_CONFIG_DIR": folder,
            "PROMPTFOO_DISABLE_TELEMETRY": "1",
            "PROMPTFOO_DISABLE_UPDATE": "1",
        }
        flags = ["--repeat", "4", "--no-cache", "-j", "1", "-o", "results.json", "results.jsonl"]
        command = [str(promptfoo), "eval", "-c", "promptfooconfig.json", *flags]
        subprocess.run(command, cwd=folder, env=environment, check=False)
        for name in ("results.json", "results.jsonl"):
            shutil.copy(work / name, FOLDER)


if __name__ == "__main__":
    main()
