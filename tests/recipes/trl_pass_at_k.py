"""Train on pass@k with GRPO of TRL, by rewards that are weights. Needs trl (for --train, torch).

The trainer subtracts the mean of each prompt, which is what the baseline "centered" is for. It must
not divide by the standard deviation: `scale_rewards="none"`. A process has to hold all samples of
its prompts: `per_device_train_batch_size * steps_per_generation` is a multiple of NUM_GENERATIONS.
The file runs without TRL, and checks what the trainer makes of the rewards; `--train` runs two
steps of a tiny model.
"""

import sys

import at_k
import numpy as np

NUM_GENERATIONS, K = 8, 4


def pass_at_k(completions, answer, log_metric=None, **_):
    """A reward function of TRL: the weights of the completions in the gradient of pass@4."""
    correct = [float(text.endswith(gold)) for text, gold in zip(completions, answer, strict=True)]
    if log_metric is not None:
        rows = np.reshape(correct, (-1, NUM_GENERATIONS)).astype(int)
        log_metric("pass_at_4", at_k.pass_at_k(rows, K))  # unbiased, from 8 samples
    return at_k.advantages(correct, K, baseline="centered", group_size=NUM_GENERATIONS)


logged: dict[str, float] = {}
texts = ["it is 3", *["4"] * 7, *["7", "so 7"], *["8"] * 6]
rewards = pass_at_k(texts, ["3"] * 8 + ["7"] * 8, logged.__setitem__)
assert logged == {"pass_at_4": (1 / 2 + 11 / 14) / 2}, logged
grouped = np.reshape(rewards, (2, NUM_GENERATIONS))
advantages = grouped - grouped.mean(axis=1, keepdims=True)  # as GRPOTrainer does
# A correct sample is worth more by the probability that 3 of the other 7 are all incorrect.
for row, probability in zip(advantages, (20 / 35, 10 / 35), strict=True):
    assert np.allclose(row[0] - row[-1], probability), row
    assert np.allclose(row.sum(), 0)


def train(folder):
    """Run two steps of a model with random parameters, and check the advantages of the trainer."""
    from datasets import Dataset
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, set_seed
    from trl import GRPOConfig, GRPOTrainer

    words = ["<pad>", "<eos>", *map(str, range(10))]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, "<pad>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokens = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>"
    )
    set_seed(0)
    model = GPT2LMHeadModel(
        GPT2Config(vocab_size=12, n_positions=16, n_embd=8, n_layer=1, n_head=1, eos_token_id=1)
    )
    seen = []

    class Recorder(GRPOTrainer):
        def compute_loss(self, model, inputs, *args, **options):
            texts = tokens.batch_decode(inputs["completion_ids"], skip_special_tokens=True)
            prompts = tokens.batch_decode(inputs["prompt_ids"], skip_special_tokens=True)
            seen.append((prompts, texts, inputs["advantages"].cpu().numpy()))
            return super().compute_loss(model, inputs, *args, **options)

    trainer = Recorder(
        model,
        pass_at_k,
        GRPOConfig(
            folder,
            num_generations=NUM_GENERATIONS,
            per_device_train_batch_size=2 * NUM_GENERATIONS,
            scale_rewards="none",
            max_completion_length=2,
            max_steps=2,
            use_cpu=True,
            bf16=False,
            report_to=[],
            logging_steps=1,
            disable_tqdm=True,
        ),
        train_dataset=Dataset.from_dict({"prompt": ["1 2", "3 4"], "answer": ["5", "6"]}),
        processing_class=tokens,
    )
    trainer.train()
    assert any("pass_at_4" in key for log in trainer.state.log_history for key in log)
    for prompts, texts, advantages in seen:
        answers = [{"1 2": "5", "3 4": "6"}[" ".join(prompt.split())] for prompt in prompts]
        for answer in "56":
            rows = [i for i, gold in enumerate(answers) if gold == answer]
            correct = [float(texts[i].endswith(answer)) for i in rows]
            weights = np.array(at_k.advantages([correct], K, baseline="centered")[0])
            assert np.allclose(advantages[rows], weights - weights.mean(), atol=1e-6)
    assert any(advantages.any() for _, _, advantages in seen)


if "--train" in sys.argv:
    train("out")
