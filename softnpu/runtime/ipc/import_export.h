#pragma once

#include "base/status.h"
#include "runtime/ipc/export_ticket.h"
#include "runtime/ipc/imported_range.h"

namespace softnpu {

// Asks the process of `ticket` for what the ticket names. Fails if it lives no longer, belongs to another user, does
// not know the ticket's secret, or does not allow this process. The file cannot shrink and contains the range.
Status import_export(const ExportTicket& ticket, ImportedRange* out);

}  // namespace softnpu
