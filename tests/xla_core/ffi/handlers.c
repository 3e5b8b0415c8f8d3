/* Handlers that were compiled without XLA's headers: `declarations.h` is written from our table of its structures. */

#include "declarations.h"

static void* error(CallFrame* frame, const char* message) {
  void* (*create)(Error_Create_Args*) = (void* (*)(Error_Create_Args*))((void**)((char*)frame->api + API_FUNCTIONS))[0];
  Error_Create_Args args = {sizeof args, 0, (void*)message, 8};
  return create(&args);
}

static int answered_metadata(CallFrame* frame, int minor_version) {
  Metadata_Extension* extension = frame->extension_start;
  if (!extension) return 0;
  ((Metadata*)extension->metadata)->api_version.minor_version = minor_version;
  return 1;
}

/* Multiplies by the attribute k, an f64; fails with RESOURCE_EXHAUSTED where it is negative. */
void* scale(CallFrame* frame) {
  if (answered_metadata(frame, 3)) return 0;
  Scalar* k = ((Scalar**)frame->attrs.attrs)[0];
  double factor = *(double*)k->value;
  if (factor < 0) return error(frame, "k is negative");
  Buffer *x = ((Buffer**)frame->args.args)[0], *y = ((Buffer**)frame->rets.rets)[0];
  int64_t count = 1;
  for (int64_t i = 0; i < x->rank; ++i) count *= ((int64_t*)x->dims)[i];
  for (int64_t i = 0; i < count; ++i) ((float*)y->data)[i] = factor * ((float*)x->data)[i];
  return 0;
}

void* from_the_future(CallFrame* frame) {
  answered_metadata(frame, 99);
  return 0;
}

void* without_metadata(CallFrame* frame) { return 0; }

void* returns_nonsense(CallFrame* frame) { return answered_metadata(frame, 3) ? 0 : (void*)0x123; }
