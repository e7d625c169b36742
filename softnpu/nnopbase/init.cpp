#include "aclnn/aclnn_base.h"

// Nothing to do: setup happens on first use, and softnpu's settings are environment variables.
aclnnStatus aclnnInit(const char*) { return ACLNN_SUCCESS; }
aclnnStatus aclnnFinalize(void) { return ACLNN_SUCCESS; }
