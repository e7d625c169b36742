#pragma once
// The path by which extensions include CANN's runtime, while the plug-in itself is compiled.

#include <acl/acl.h>
