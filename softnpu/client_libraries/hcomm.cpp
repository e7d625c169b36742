// libhcomm.so: groups of sends and receives. libhccl has the rest of HCCL.

#include "hccl/hccl.h"
#include "softnpu/collectives.h"

HcclResult HcclGroupStart() { return softnpuGroupStart(); }
HcclResult HcclGroupEnd() { return softnpuGroupEnd(); }
