// Every ACL function returns a code; 0 is success. After a failure aclGetRecentErrMsg() says what was wrong.
#ifndef EXAMPLES_ACL_CHECK_H
#define EXAMPLES_ACL_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"

static void check(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  fprintf(stderr, "%s returned %d: %s\n", call, code, message != NULL ? message : "");
  exit(1);
}

// Ends the program where `call` fails, with the call's own text.
#define CHECK(call) check((call), #call)

#endif
