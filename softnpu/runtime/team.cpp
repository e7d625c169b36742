#include "runtime/team.h"

#include <omp.h>

namespace softnpu {

void release_team() { omp_pause_resource(omp_pause_soft, omp_get_initial_device()); }

}  // namespace softnpu
