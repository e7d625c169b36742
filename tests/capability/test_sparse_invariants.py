"""The check of a sparse tensor's invariants, which torch.load with weights_only makes since PyTorch 2.14."""

import pytest
import torch
from torch.sparse import check_sparse_tensor_invariants

INDICES = torch.tensor([[0, 1, 2, 2], [1, 0, 0, 3], [0, 2, 1, 0]])
VALUES = torch.tensor([1.0, 2.0, 3.0, 4.0])
SIZE = (3, 4, 5)


def coo(device, indices=INDICES, values=VALUES, size=SIZE):
    return torch.sparse_coo_tensor(
        indices.to(device), values.to(device), size, check_invariants=True, is_coalesced=True
    )


def test_a_coalesced_tensor_is_accepted():
    result = coo("npu")
    assert result.is_coalesced()
    torch.testing.assert_close(result.to_dense().cpu(), coo("cpu").to_dense())


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("order", [[1, 0, 2, 3], [0, 1, 1, 3], [0, 1, 3, 2]])
def test_unsorted_and_repeated_indices_are_refused(dims, order):
    indices = INDICES[:dims, order] if dims > 1 else INDICES[1:2, order]
    message = []
    for device in ("cpu", "npu"):
        with pytest.raises(RuntimeError) as error:
            coo(device, indices, size=SIZE[:dims] if dims > 1 else SIZE[1:2])
        message.append(str(error.value).splitlines()[0])
    assert message[0] == message[1]
    assert "uncoalesced" in message[0]


@pytest.mark.parametrize(
    ("indices", "values", "size"),
    [
        (INDICES[:, :0], VALUES[:0], SIZE),
        (INDICES[:, :1], VALUES[:1], SIZE),
        (INDICES[:1, :3], torch.ones(3, 2), (3, 2)),
    ],
    ids=["no entry", "one entry", "dense dimension"],
)
def test_small_ones(indices, values, size):
    torch.testing.assert_close(
        coo("npu", indices, values, size).to_dense().cpu(),
        coo("cpu", indices, values, size).to_dense(),
    )


def test_a_file_of_weights(tmp_path):
    tensor = coo("npu")
    torch.save(tensor, tmp_path / "sparse.pt")
    with check_sparse_tensor_invariants():
        loaded = torch.load(tmp_path / "sparse.pt", weights_only=True)
    assert loaded.is_coalesced()
    assert loaded.device == tensor.device
    torch.testing.assert_close(loaded.to_dense(), tensor.to_dense())
