"""Write the fixtures of Harbor (Terminal-Bench) with its own classes: two tasks, four trials each.

Made with harbor 0.26.0, which needs Python 3.12 (`pip install harbor`). Run it as
`python make_harbor.py`. The agent does not run, which needs Docker: each `TrialResult` is filled by
hand, and written as Harbor writes it. Harbor's own pass@k is in the result of the job.
"""

import json
import shutil
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "fixtures" / "harbor" / "2026-11-24__10-00-00"
START = datetime(2026, 11, 24, 10, tzinfo=UTC)
REWARDS: dict[str, list[Any]] = {  # by task: a reward; or an error, with or without one
    "hello-world": [1.0, 0.0, 1.0, 1.0],
    "fix-git": [0.0, ("AgentTimeoutError", 0.0), ("EnvironmentStartTimeoutError", None), 1.0, 1.0],
}


def main():
    from harbor.models.job.result import JobResult, JobStats
    from harbor.models.task.id import LocalTaskId
    from harbor.models.trial.config import AgentConfig, TaskConfig, TrialConfig
    from harbor.models.trial.result import AgentInfo, ExceptionInfo, ModelInfo, TrialResult
    from harbor.models.verifier.result import VerifierResult
    from harbor.utils.pass_at_k import compute_pass_at_k_by_evals

    shutil.rmtree(FOLDER, ignore_errors=True)
    trials: list[Any] = []
    for task, rewards in REWARDS.items():
        for number, reward in enumerate(rewards):
            kind, reward = reward if isinstance(reward, tuple) else (None, reward)
            error = kind and ExceptionInfo(
                exception_type=kind,
                exception_message="",
                exception_traceback="",
                occurred_at=START,
            )
            path = Path("tasks") / task
            name = f"{task}__replay{number}"
            trial = TrialResult(
                id=uuid.UUID(int=len(trials) + 1),
                task_name=task,
                trial_name=name,
                trial_uri=f"file:///jobs/{name}",
                task_id=LocalTaskId(path=path),
                source="terminal-bench",
                task_checksum="0" * 8,
                config=TrialConfig(
                    task=TaskConfig(path=path), agent=AgentConfig(name="terminus-2")
                ),
                agent_info=AgentInfo(
                    name="terminus-2",
                    version="2.0.0",
                    model_info=ModelInfo(name="replay-1b", provider="org"),
                ),
                verifier_result=None
                if reward is None
                else VerifierResult(rewards={"reward": reward}),
                exception_info=error,
                started_at=START,
                finished_at=START,
            )
            trials.append(trial)
            (FOLDER / name).mkdir(parents=True)
            (FOLDER / name / "result.json").write_text(trial.model_dump_json(indent=4))
    stats = JobStats.from_trial_results(trials, n_total_trials=len(trials))
    for key, scores in compute_pass_at_k_by_evals(trials).items():
        stats.evals[key].pass_at_k = scores
    job = JobResult(id=uuid.UUID(int=0), started_at=START, n_total_trials=len(trials), stats=stats)
    text = job.model_dump_json(indent=4, exclude={"trial_results"})
    (FOLDER / "result.json").write_text(text)
    print(json.loads(text)["stats"]["evals"])


if __name__ == "__main__":
    main()
