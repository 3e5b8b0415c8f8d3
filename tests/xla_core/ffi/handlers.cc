// Handlers that are compiled with XLA's own headers, which jaxlib contains.

#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

// Writes what the attributes are: the sum of numbers, the length of the string, the count of a nested dictionary.
static ffi::Error Attributes(bool flag, int8_t i8, uint64_t u64, float f32, double f64, std::string_view text,
                             ffi::Span<const int32_t> array, ffi::Span<const double> reals, ffi::Dictionary nested,
                             ffi::ResultBuffer<ffi::F64> out) {
  auto inner = nested.get<ffi::Dictionary>("inner");
  auto n = inner.has_error() ? inner.error() : ffi::Error::Success();
  if (n.failure()) return n;
  double* data = out->typed_data();
  data[0] = flag;
  data[1] = i8;
  data[2] = static_cast<double>(u64);
  data[3] = f32;
  data[4] = f64;
  data[5] = static_cast<double>(text.size());
  data[6] = 0;
  for (int32_t value : array) data[6] += value;
  data[7] = 0;
  for (double value : reals) data[7] += value;
  data[8] = static_cast<double>(inner->get<int64_t>("x").value());
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(attributes, Attributes,
                              ffi::Ffi::Bind()
                                  .Attr<bool>("flag")
                                  .Attr<int8_t>("i8")
                                  .Attr<uint64_t>("u64")
                                  .Attr<float>("f32")
                                  .Attr<double>("f64")
                                  .Attr<std::string_view>("text")
                                  .Attr<ffi::Span<const int32_t>>("array")
                                  .Attr<ffi::Span<const double>>("reals")
                                  .Attr<ffi::Dictionary>("nested")
                                  .Ret<ffi::Buffer<ffi::F64>>());

// Copies the operand's memory in its order, and gives the type and the sizes that the handler sees.
static ffi::Error Describe(ffi::AnyBuffer x, ffi::Result<ffi::AnyBuffer> copy, ffi::ResultBuffer<ffi::S64> about) {
  std::memcpy(copy->untyped_data(), x.untyped_data(), x.size_bytes());
  int64_t* data = about->typed_data();
  *data++ = static_cast<int64_t>(x.element_type());
  for (int64_t size : x.dimensions()) *data++ = size;
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    describe, Describe,
    ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>().Ret<ffi::Buffer<ffi::S64>>());

// Adds 1 in place.
static ffi::Error Increment(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  if (x.untyped_data() != y->untyped_data()) return ffi::Error::InvalidArgument("x and y are two arrays");
  for (size_t i = 0; i < x.element_count(); ++i) y->typed_data()[i] += 1;
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(increment, Increment,
                              ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

// Counts its calls in a state that lives as long as the program.
static int destroyed = 0;

struct Count {
  static ffi::TypeId id;
  int64_t calls = 100;
  ~Count() { ++destroyed; }
};
ffi::TypeId Count::id = {};

extern "C" int count_destroyed() { return destroyed; }
extern "C" XLA_FFI_TypeId* count_type_id() { return &Count::id; }
extern "C" XLA_FFI_TypeInfo* count_type_info() {
  static XLA_FFI_TypeInfo info = {XLA_FFI_TypeInfo_STRUCT_SIZE, nullptr,
                                  [](void* state) { delete static_cast<Count*>(state); }};
  return &info;
}

static ffi::ErrorOr<std::unique_ptr<Count>> MakeCount(bool fails) {
  if (fails) return ffi::Unexpected(ffi::Error::InvalidArgument("no count is made"));
  return std::make_unique<Count>();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(count_instantiate, MakeCount, ffi::Ffi::BindInstantiate().Attr<bool>("fails"));

static ffi::Error NextCount(Count* count, bool, ffi::ResultBufferR0<ffi::S64> out) {
  out->typed_data()[0] = count->calls++;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    count_execute, NextCount,
    ffi::Ffi::Bind().Ctx<ffi::State<Count>>().Attr<bool>("fails").Ret<ffi::BufferR0<ffi::S64>>());

// Returns before it ends, and asks for all that the context has.
static ffi::Future Later(int32_t ordinal, ffi::ThreadPool pool, ffi::ScratchAllocator scratch, bool fails,
                         ffi::ResultBuffer<ffi::S64> out) {
  ffi::Promise promise;
  ffi::Future future(promise);
  auto memory = scratch.Allocate(100, 64);
  int64_t* data = out->typed_data();
  int64_t tasks = 0;
  for (int i = 0; i < 3; ++i) pool.Schedule([&tasks] { ++tasks; });
  data[0] = ordinal;
  data[1] = tasks;
  data[2] = memory.has_value() && reinterpret_cast<uintptr_t>(*memory) % 64 == 0;
  std::thread([data, fails, promise = std::move(promise)]() mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    data[3] = 7;
    if (fails) {
      promise.SetError(ffi::Error(ffi::ErrorCode::kDeadlineExceeded, "too late"));
    } else {
      promise.SetAvailable();
    }
  }).detach();
  return future;
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(later, Later,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::DeviceOrdinal>()
                                  .Ctx<ffi::ThreadPool>()
                                  .Ctx<ffi::ScratchAllocator>()
                                  .Attr<bool>("fails")
                                  .Ret<ffi::Buffer<ffi::S64>>());

static ffi::Error OnStream(void*, ffi::ResultBufferR0<ffi::S64>) { return ffi::Error::Success(); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(on_stream, OnStream, ffi::Ffi::Bind().Ctx<ffi::PlatformStream<void*>>().Ret<ffi::BufferR0<ffi::S64>>());
