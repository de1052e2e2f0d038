"""Write the fixture of TRL with a step of its GRPOTrainer, which logs the completions.

Made with trl 1.16.0, transformers 5.23.0 and torch 2.14.1 on Python 3.11.7 (`pip install trl`). Run
it as `python make_trl.py`. The model is tiny and random, so that nothing is downloaded.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer

FOLDER = Path(__file__).parent / "fixtures" / "trl"


def is_three(completions, **_):
    return [float("3" in text) for text in completions]


def is_short(completions, **_):
    return [1.0 / (1 + len(text)) for text in completions]


def tiny_model():
    words = ["<pad>", "<eos>", "1", "2", "3", "4", "+"]
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, "<pad>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    config = Qwen2Config(
        vocab_size=len(words),
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=1,
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>", unk_token="<pad>"
    )
    return Qwen2ForCausalLM(config), fast


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    torch.manual_seed(0)
    model, tokenizer = tiny_model()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        trainer = GRPOTrainer(
            model=model,
            processing_class=tokenizer,
            reward_funcs=[is_three, is_short],
            train_dataset=Dataset.from_dict({"prompt": ["1 + 2", "2 + 1"]}),
            args=GRPOConfig(
                output_dir="out",
                per_device_train_batch_size=8,
                num_generations=4,
                max_completion_length=4,
                max_steps=1,
                logging_steps=1,
                log_completions=True,
                report_to=[],
                use_cpu=True,
                save_strategy="no",
            ),
        )
        trainer.train()
        (file,) = Path("out/completions").glob("*.parquet")
        shutil.copy(file, FOLDER)
        log = trainer.state.log_history[0]
        log = {name: value for name, value in log.items() if name.startswith("rewards/")}
        (FOLDER / "logged.json").write_text(json.dumps(log) + "\n")
        os.chdir(FOLDER)


if __name__ == "__main__":
    main()
