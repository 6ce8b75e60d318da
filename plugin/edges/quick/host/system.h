#ifndef IPKEEPER_SYSTEM_H
#define IPKEEPER_SYSTEM_H

#include "quickjs.h"
#include <errno.h>

/*
 * The object `system` of the script (system.ts says what each of its functions takes and returns). A call that fails
 * returns the negated errno; none of them throws.
 */
JSValue make_system(JSContext *context, int count, char **arguments, int signal_descriptor);

#endif
