"""ATen's operators as the engine's, a table for each family."""

from torch_npu._npugraph_ex.lower.elementwise import ELEMENTWISE
from torch_npu._npugraph_ex.lower.images import IMAGES
from torch_npu._npugraph_ex.lower.networks import NETWORKS
from torch_npu._npugraph_ex.lower.norms import NORMS
from torch_npu._npugraph_ex.lower.orders import ORDERS
from torch_npu._npugraph_ex.lower.products import PRODUCTS
from torch_npu._npugraph_ex.lower.reductions import REDUCTIONS
from torch_npu._npugraph_ex.lower.shapes import SHAPES
from torch_npu._npugraph_ex.lower.table import Lower

TABLE: dict[object, Lower] = {
    **ELEMENTWISE,
    **SHAPES,
    **REDUCTIONS,
    **ORDERS,
    **PRODUCTS,
    **IMAGES,
    **NORMS,
    **NETWORKS,
}
