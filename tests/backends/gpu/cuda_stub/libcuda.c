/* libcuda.so.1 without a GPU: finds each function of the driver in a table that Python fills. See driver.py. */

typedef void *(*Resolver)(const char *symbol);

static Resolver resolver;

void set_resolver(Resolver chosen) { resolver = chosen; }

int cuGetProcAddress_v2(const char *symbol, void **function, int version, unsigned long long flags, int *found) {
  *function = resolver ? resolver(symbol) : 0;
  if (found)
    *found = *function ? 0 : 1; /* CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND */
  return *function ? 0 : 500;   /* CUDA_ERROR_NOT_FOUND */
}

int cuGetProcAddress(const char *symbol, void **function, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, 0);
}
