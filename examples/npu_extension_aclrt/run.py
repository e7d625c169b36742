"""Calls the extension: ``python run.py``, after setup.py."""

import torch


def main() -> None:
    """Adds two tensors of the CPU on the device."""
    import npu_extension_aclrt  # after torch, which loads the libraries that it needs

    a, b = torch.randn(1024), torch.randn(1024)
    c = npu_extension_aclrt.add(a, b)
    print(c.device, c.equal(a + b))
    try:
        npu_extension_aclrt.add(a.to("npu"), b)
    except RuntimeError as error:
        print(str(error).splitlines()[0])


if __name__ == "__main__":
    main()
