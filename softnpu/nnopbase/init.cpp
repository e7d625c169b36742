#include "aclnn/aclnn_base.h"

// All there is to set up is set up where it is first needed; softnpu's settings are environment variables.
aclnnStatus aclnnInit(const char*) { return ACLNN_SUCCESS; }
aclnnStatus aclnnFinalize(void) { return ACLNN_SUCCESS; }
