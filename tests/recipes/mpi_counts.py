"""Count the samples of each process of MPI, and check samples in them. Needs mpi4py and an MPI.

Run it as `mpiexec -n 2 python mpi_counts.py`, or as it is.
"""

import at_k
import numpy as np
from mpi4py import MPI
from mpi4py.futures import MPICommExecutor

QUESTIONS, SAMPLES = 1000, 4


def is_even(prediction, reference):
    return int(prediction) % 2 == reference


comm = MPI.COMM_WORLD
gpassk = at_k.load("gpassk")

# Each process has some of the samples, in any order: counts of the same questions are added.
mine = np.arange(comm.rank, QUESTIONS * SAMPLES, comm.size)
passed = mine % 3 == 0
n = comm.allreduce(np.bincount(mine // SAMPLES, minlength=QUESTIONS))
correct = comm.allreduce(np.bincount(mine[passed] // SAMPLES, minlength=QUESTIONS))
if comm.rank == 0:
    counts = at_k.Counts(n, correct)
    scores = gpassk.compute(predictions=counts, k=[1, 4], include=["pass@k"])
    assert scores == {"pass@1": 0.3335, "pass@4": 1.0}, scores

with MPICommExecutor(comm, root=0) as executor:
    if executor is not None:  # in process 0, which hands out the checks
        checked = gpassk.compute(
            predictions=[["1", "2", "4", "6"]],
            references=[0],
            check_correct_fn=is_even,
            executor=executor,
            k=1,
            include=["pass@k"],
        )
        assert checked == {"pass@1": 0.75}, checked
