"""A bidirectional LSTM over packed sequences that classifies texts, with a collate function that moves batches."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader

import argparse  # isort: skip

parser = argparse.ArgumentParser()
parser.add_argument("--device", default=None)
args = parser.parse_args()
device = args.device or ("cuda" if torch.cuda.is_available() else "cpu")

TEXTS = [
    ("a fine film with a warm heart", 1),
    ("dull and far too long", 0),
    ("the cast is a joy to watch", 1),
    ("not one line of it is true", 0),
    ("warm funny and true", 1),
    ("a long dull evening", 0),
    ("joy from the first line to the last", 1),
    ("the worst film of the year", 0),
]
VOCABULARY = {
    word: i + 1 for i, word in enumerate(sorted({w for text, _ in TEXTS for w in text.split()}))
}


def collate(batch):
    batch = sorted(batch, key=lambda item: -len(item[0].split()))
    sequences = [torch.tensor([VOCABULARY[w] for w in text.split()]) for text, _ in batch]
    lengths = torch.tensor([len(s) for s in sequences])
    labels = torch.tensor([label for _, label in batch], dtype=torch.float32)
    return pad_sequence(sequences, batch_first=True).to(device), lengths, labels.to(device)


class Classifier(nn.Module):
    def __init__(self, words, width=16, hidden=24):
        super().__init__()
        self.embedding = nn.Embedding(words + 1, width, padding_idx=0)
        self.lstm = nn.LSTM(width, hidden, num_layers=2, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hidden, 1)

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(self.embedding(tokens), lengths.cpu(), batch_first=True)
        _, (hidden, _) = self.lstm(packed)
        return self.fc(torch.cat((hidden[-2], hidden[-1]), dim=1)).squeeze(1)


torch.manual_seed(7)
model = Classifier(len(VOCABULARY)).to(device)
model.lstm.flatten_parameters()
criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1.5], device=device))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
loader = DataLoader(TEXTS, batch_size=4, collate_fn=collate)
for epoch in range(3):
    for tokens, lengths, labels in loader:
        optimizer.zero_grad()
        loss = criterion(model(tokens, lengths), labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5)
        optimizer.step()
        print(f"epoch {epoch} loss: {loss.item()!r}")
