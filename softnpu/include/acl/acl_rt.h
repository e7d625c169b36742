#pragma once
// CANN's runtime interface: devices, contexts, streams, events, memory. See PROVENANCE.md.

#include "acl/rt/callback.h"
#include "acl/rt/context.h"
#include "acl/rt/device.h"
#include "acl/rt/error.h"
#include "acl/rt/event.h"
#include "acl/rt/kernel.h"
#include "acl/rt/memory.h"
#include "acl/rt/sharing.h"
#include "acl/rt/stream.h"
#include "acl/rt/types.h"
#include "acl/rt/virtual_memory.h"
