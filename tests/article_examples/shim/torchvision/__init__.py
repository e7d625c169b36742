"""The names of torchvision that the scripts use: for tests, where torchvision is not installed."""
