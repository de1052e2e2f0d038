"""Log scores with MLflow, TensorBoard, wandb and trackio.

Needs mlflow, tensorboardX, wandb and trackio.
"""

import os
import tempfile

import at_k

folder = tempfile.mkdtemp()
os.chdir(folder)
os.environ |= {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "TRACKIO_DIR": folder}

gpassk = at_k.load("gpassk")
scores = gpassk.compute(predictions=[[1, 0, 1, 1]], k=2, include=["pass@k", "pass^k"], keys="safe")
assert scores == {"pass_at_2": 1.0, "pass_hat_2": 0.5}, scores

import mlflow  # noqa: E402

mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
with mlflow.start_run() as run:
    mlflow.log_metrics(scores, step=1)
assert mlflow.get_run(run.info.run_id).data.metrics == scores

from tensorboardX import SummaryWriter  # noqa: E402

with SummaryWriter(folder) as writer:
    for name, score in scores.items():
        writer.add_scalar(name, score, global_step=1)

import wandb  # noqa: E402

with wandb.init(project="at-k", dir=folder) as wandb_run:
    wandb_run.log(scores, step=1)

import trackio  # noqa: E402

trackio.init(project="at-k", embed=False)
trackio.log(scores, step=1)
trackio.finish()
