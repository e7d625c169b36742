"""A compiled model (.om): its memory is allocated once, then it runs any number of times."""

import acl
import numpy as np
from device import Buffer, check

# aclDataType: numpy's name.
DTYPES = {0: "float32", 1: "float16", 2: "int8", 3: "int32", 4: "uint8", 9: "int64", 12: "bool"}


class Model:
    """The model of a file, with the buffers of its inputs and outputs."""

    def __init__(self, path: str) -> None:
        """Loads the model.

        Raises:
            AclError: the file is no model, or the device has too little memory.
        """
        self.number, ret = acl.mdl.load_from_file(path)
        check(ret, path)
        self.desc = acl.mdl.create_desc()
        check(acl.mdl.get_desc(self.desc, self.number), "acl.mdl.get_desc")
        inputs, outputs = acl.mdl.get_num_inputs(self.desc), acl.mdl.get_num_outputs(self.desc)
        sizes_in = [acl.mdl.get_input_size_by_index(self.desc, i) for i in range(inputs)]
        sizes_out = [acl.mdl.get_output_size_by_index(self.desc, i) for i in range(outputs)]
        self.inputs, self.input_set = self._dataset(sizes_in)
        self.outputs, self.output_set = self._dataset(sizes_out)

    @staticmethod
    def _dataset(sizes: list[int]) -> tuple[list[Buffer], int]:
        dataset = acl.mdl.create_dataset()
        buffers = [Buffer(size) for size in sizes]
        for buffer in buffers:
            _, ret = acl.mdl.add_dataset_buffer(dataset, buffer.handle)
            check(ret, "acl.mdl.add_dataset_buffer")
        return buffers, dataset

    def __call__(self, *arrays: np.ndarray) -> list[np.ndarray]:
        """The outputs for these inputs.

        Raises:
            ValueError: an input has another size than the model's.
        """
        for i, (buffer, array) in enumerate(zip(self.inputs, arrays, strict=True)):
            if array.nbytes != buffer.size:
                dims, _ = acl.mdl.get_input_dims(self.desc, i)
                raise ValueError(
                    f"input {dims['name']} is {dims['dims']}, {buffer.size} bytes; given {array.nbytes}"
                )
            buffer.write(array)
        check(acl.mdl.execute(self.number, self.input_set, self.output_set), "acl.mdl.execute")
        results = []
        for i, buffer in enumerate(self.outputs):
            dims, ret = acl.mdl.get_cur_output_dims(self.desc, i)
            check(ret, "acl.mdl.get_cur_output_dims")
            dtype = DTYPES[acl.mdl.get_output_data_type(self.desc, i)]
            results.append(buffer.read(dtype, dims["dims"]))
        return results

    def close(self) -> None:
        """Frees the model and its memory."""
        for dataset, buffers in (
            (self.input_set, self.inputs),
            (self.output_set, self.outputs),
        ):
            acl.mdl.destroy_dataset(dataset)
            for buffer in buffers:
                buffer.free()
        acl.mdl.destroy_desc(self.desc)
        acl.mdl.unload(self.number)
