"""Score samples that Accelerate gathers from its processes. Needs accelerate and torch.

Run it as `torchrun --nproc_per_node 2 accelerate_gather.py`, or as it is.
"""

import at_k
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader

accelerator = Accelerator(cpu=True)
# A row is a question with the outcomes of its samples. With 5 rows, the last batch is padded, and
# gather_for_metrics drops what was added.
outcomes = torch.tensor([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1], [1, 0, 0, 0], [0, 1, 1, 0]])
gpassk = at_k.load("gpassk")
for batch in accelerator.prepare(DataLoader(outcomes, batch_size=2)):
    gathered = accelerator.gather_for_metrics(batch)
    if accelerator.is_main_process:
        gpassk.add_batch(predictions=gathered)
if accelerator.is_main_process:
    scores = gpassk.compute(k=[1, 4], include=["pass@k"])
    assert scores == {"pass@1": 0.5, "pass@4": 0.8}, scores
