"""TRL's KTOTrainer on an exported dataset: two steps of a tiny model with random weights, on one core, with no network.

Run with the Python of the peers: python benchmarks/peers/kto.py DATASET
"""

import json
import sys
import tempfile

import datasets
import torch
import trl
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

STEPS = 2
CHAT = (
    "{% for message in messages %}<s>{{ message['role'] }}: {{ message['content'] }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant: {% endif %}"
)


def main(path):
    data = datasets.load_from_disk(path)
    tokenizer = train_tokenizer(json.dumps(row) for row in data)
    torch.manual_seed(0)
    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), pad_token_id=0, **size))
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(f"{folder}/model")  # the trainer loads its reference from there
        arguments = trl.KTOConfig(
            f"{folder}/out", max_steps=STEPS, per_device_train_batch_size=4, logging_steps=1, report_to=[],
            use_cpu=True, bf16=False, disable_tqdm=True, save_strategy="no",
        )  # fmt: skip
        trainer = trl.KTOTrainer(
            f"{folder}/model", args=arguments, train_dataset=data, processing_class=tokenizer
        )
        trainer.train()
    losses = [row["loss"] for row in trainer.state.log_history if "loss" in row]
    print(
        json.dumps(
            {"trl": trl.__version__, "rows": len(data), "steps": trainer.state.global_step, "losses": losses}
        )
    )


def train_tokenizer(texts):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special = ["<pad>", "<unk>", "<s>", "</s>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=512, special_tokens=special, initial_alphabet=alphabet)
    )
    made = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>", bos_token="<s>", eos_token="</s>"
    )
    made.chat_template = CHAT
    return made


if __name__ == "__main__":
    main(sys.argv[1])
