"""Write the fixtures of verifiers: three tasks, four rollouts each, one of which failed.

`traces.jsonl` was made with verifiers 0.4.0, whose own `write_episode` wrote episodes that are
filled by hand; `results.jsonl` and `metadata.json` with the writer of verifiers 0.1.14, fed by hand
too, because rollouts need a model. Run it as `python make_verifiers.py`, with each of them.
"""

import importlib.metadata
import json
from pathlib import Path

FOLDER = Path(__file__).parent / "fixtures" / "verifiers"
REWARDS: dict[str, list[float | None]] = {
    "1+1": [1.0, 0.0, 1.0, 1.0],
    "2+2": [1.0, 0.0, 0.0, None],
    "3+3": [1.0] * 4,
}


def write_traces():
    from verifiers.v1.configs.agent import AgentConfig
    from verifiers.v1.episode import EnvInfo, Episode
    from verifiers.v1.task import TaskData
    from verifiers.v1.trace import AgentInfo, Error, Reward, Trace, TraceTask
    from verifiers.v1.utils.trace_store import TRACES_FILE, write_episode

    (FOLDER / TRACES_FILE).unlink(missing_ok=True)
    for index, (prompt, rewards) in enumerate(REWARDS.items()):
        task = TraceTask(type="Sum", data=TaskData(idx=index, prompt=prompt), key=f"sum-{index}")
        for reward in rewards:
            ok = reward is not None
            trace = Trace(
                task=task,
                agent=AgentInfo(config=AgentConfig(), name="agent"),
                # Two rewards, of which the second has the weight 0, as a reward for logs only.
                rewards={
                    "same_answer": Reward(score=reward) if ok else None,
                    "length": Reward(score=3.0, weight=0.0) if ok else None,
                },
                is_completed=True,
                ok=ok,
                errors=[] if ok else [Error(type="SandboxError", message="the box was lost")],
            )
            env = EnvInfo(id="sums")
            write_episode(FOLDER, Episode(env=env, task=task, traces=[trace], ok=ok))


def write_results():
    from verifiers.types import ClientConfig, RolloutOutput
    from verifiers.utils.save_utils import GenerateOutputsBuilder, save_outputs

    outputs = [
        RolloutOutput(
            example_id=index,
            prompt=[{"role": "user", "content": prompt}],
            completion=[{"role": "assistant", "content": "2"}],
            answer="2",
            reward=0.0 if reward is None else reward,
            timing={"generation_ms": 0.0, "scoring_ms": 0.0, "total_ms": 0.0},
            is_completed=True,
            is_truncated=False,
            metrics={"same_answer": 0.0 if reward is None else reward},
            error=None
            if reward is not None
            else {"error": "SandboxError", "error_chain_repr": "", "error_chain_str": ""},
        )
        for index, (prompt, rewards) in enumerate(REWARDS.items())
        for reward in rewards
    ]
    builder = GenerateOutputsBuilder(
        "sums", {}, "org/replay-1b", ClientConfig(), 3, 4, None, {}, FOLDER
    )
    builder.add_outputs(outputs)
    save_outputs(outputs, FOLDER)
    metadata = builder.build_metadata()
    kept = {name: metadata[name] for name in ("avg_reward", "avg_error", "pass_at_k", "pass_all_k")}
    (FOLDER / "metadata.json").write_text(json.dumps(kept, indent=2) + "\n")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    if importlib.metadata.version("verifiers") < "0.2":
        write_results()
    else:
        write_traces()


if __name__ == "__main__":
    main()
