"""Write the fixtures of tau2-bench: three tasks, four trials each.

tau2-bench is no package of PyPI, so it was not run: the fields are those of `Results` and
`SimulationRun` of its source (src/tau2/data_model/simulation.py, November 2026), with few of the
tasks' and the messages'. The second file is what tau2 saves if each simulation has its own file.
"""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "fixtures" / "tau2"
REWARDS: dict[str, list[Any]] = {  # by task: a reward; or what ended the simulation
    "0": [1.0, 0.0, 1.0, 1.0],
    "1": [0.0, 0.5, "infrastructure_error", 1.0],
    "2": [1.0, 1.0, "max_steps", 1.0],
}
INFO = {
    "git_commit": "0" * 8,
    "num_trials": 4,
    "max_steps": 200,
    "max_errors": 10,
    "user_info": {"implementation": "user_simulator", "llm": "org/user-1b", "llm_args": {}},
    "agent_info": {"implementation": "llm_agent", "llm": "org/replay-1b", "llm_args": {}},
    "environment_info": {"domain_name": "airline", "policy": "", "tool_defs": None},
    "seed": 300,
}


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    simulations, index = [], []
    for task, rewards in REWARDS.items():
        for trial, result in enumerate(rewards):
            reason = result if isinstance(result, str) else "user_stop"
            reward = {"infrastructure_error": None, "max_steps": 0.0}.get(result, result)
            run = {
                "id": f"{task}-{trial}",
                "task_id": task,
                "trial": trial,
                "termination_reason": reason,
                "agent_cost": 0.01,
                "duration": 1.5,
            }
            index.append(run | {"reward": reward})
            checked = None if reward is None else {"reward": reward, "reward_basis": ["DB"]}
            times = dict.fromkeys(("timestamp", "start_time", "end_time"), "2026-11-24T10:00:00")
            simulations.append(run | times | {"reward_info": checked, "messages": [], "seed": 1})
    log: dict[str, Any] = {"timestamp": "2026-11-24T10:00:00", "info": INFO}
    log["tasks"] = [{"id": task, "user_scenario": {"instructions": ""}} for task in REWARDS]
    whole = log | {"simulations": simulations, "simulation_index": None}
    folder = log | {"simulations": [], "simulation_index": index}
    for name, content in (("results", whole), ("folder_results", folder)):
        (FOLDER / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
