"""Write the fixtures of deepeval with its own `evaluate`, with metrics of ours.

Made with deepeval 4.3.1 on Python 3.11.7 (`pip install deepeval`). Run it as
`python make_deepeval.py`. One metric fails once, as a judge does when its server is away.
"""

import os
import shutil
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent / "fixtures" / "deepeval"
ANSWERS = {"1+1": ["2", "3", "2", "2"], "2+2": ["4", "5", "6", "error"], "3+3": ["6"] * 4}
EXPECTED = {"1+1": "2", "2+2": "4", "3+3": "6"}


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["DEEPEVAL_RESULTS_FOLDER"] = "results"
        os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
        from deepeval import evaluate
        from deepeval.evaluate import AsyncConfig, DisplayConfig, ErrorConfig
        from deepeval.metrics import BaseMetric
        from deepeval.test_case import LLMTestCase

        class SameAnswer(BaseMetric):
            threshold = 0.5
            async_mode = False

            def measure(self, test_case):
                if test_case.actual_output == "error":
                    raise ConnectionError("the connection was lost")
                self.score = float(test_case.actual_output == test_case.expected_output)
                self.success = self.score >= self.threshold
                return self.score

            async def a_measure(self, test_case, *_, **__):
                return self.measure(test_case)

            def is_successful(self):
                return self.success

            @property
            def __name__(self):
                return "Same answer"

        cases = [
            LLMTestCase(input=question, actual_output=answer, expected_output=EXPECTED[question])
            for question, answers in ANSWERS.items()
            for answer in answers
        ]
        result = evaluate(
            cases,
            [SameAnswer()],
            async_config=AsyncConfig(run_async=False),
            error_config=ErrorConfig(ignore_errors=True),
            display_config=DisplayConfig(show_indicator=False, print_results=False),
        )
        (file,) = Path("results").glob("test_run_*.json")
        shutil.copy(file, FOLDER / "test_run.json")
        print([(x.name, x.success) for x in result.test_results])
        os.chdir(FOLDER)


if __name__ == "__main__":
    main()
