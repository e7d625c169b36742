"""MindSpore's target is Ascend: softnpu."""

import mindspore as ms

ms.set_device("Ascend")
