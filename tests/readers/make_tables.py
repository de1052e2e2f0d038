"""Write the fixtures of MLflow and W&B: a table of outcomes, saved by each of them.

Made with mlflow-skinny 3.17.2 and wandb 0.31.0 on Python 3.11.7. Run it as
`python make_tables.py`, with MLFLOW_ALLOW_FILE_STORE=true. W&B runs offline.
"""

import os
import shutil
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent / "fixtures" / "tables"
ROWS = [("a", "2", True), ("a", "3", False), ("b", "4", True), ("b", "4", True)]
NAMES = ["id", "answer", "correct"]


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        import mlflow

        mlflow.set_tracking_uri(f"file://{folder}/mlruns")
        with mlflow.start_run():
            columns = {name: [row[i] for row in ROWS] for i, name in enumerate(NAMES)}
            mlflow.log_table(columns, "eval_results_table.json")
        (file,) = Path(folder).glob("mlruns/**/eval_results_table.json")
        shutil.copy(file, FOLDER / "mlflow.json")

        import wandb

        run = wandb.init(mode="offline", dir=folder, project="sums")
        run.log({"samples": wandb.Table(columns=NAMES, data=[list(row) for row in ROWS])})
        run.finish()
        (file,) = Path(folder).glob("wandb/**/*.table.json")
        shutil.copy(file, FOLDER / "wandb.table.json")
        os.chdir(FOLDER)


if __name__ == "__main__":
    main()
