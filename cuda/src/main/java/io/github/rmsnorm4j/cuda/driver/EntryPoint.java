package io.github.rmsnorm4j.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;

/**
 * The functions of the driver that are used, under their exported names and with their types.
 *
 * <p>Source: NVIDIA, CUDA Driver API. An {@code int}, an {@code unsigned int}, a {@code CUdevice}
 * and an enumeration have 32 bits here; a {@code size_t} and a {@code CUdeviceptr} have 64; a
 * handle ({@code CUcontext}, {@code CUstream}, {@code CUevent}, {@code CUmodule}, {@code
 * CUfunction}) and a pointer to memory of the host are addresses. Each function returns a {@code
 * CUresult}, 32 bits. A name with {@code _v2} is the one that NVIDIA's header gives programs of
 * today; the name without it has other types.
 */
public enum EntryPoint {
  INIT("cuInit", JAVA_INT),
  DRIVER_GET_VERSION("cuDriverGetVersion", ADDRESS),
  GET_ERROR_NAME("cuGetErrorName", JAVA_INT, ADDRESS),
  GET_ERROR_STRING("cuGetErrorString", JAVA_INT, ADDRESS),

  DEVICE_GET_COUNT("cuDeviceGetCount", ADDRESS),
  DEVICE_GET("cuDeviceGet", ADDRESS, JAVA_INT),
  DEVICE_GET_NAME("cuDeviceGetName", ADDRESS, JAVA_INT, JAVA_INT),
  DEVICE_GET_ATTRIBUTE("cuDeviceGetAttribute", ADDRESS, JAVA_INT, JAVA_INT),
  DEVICE_TOTAL_MEM("cuDeviceTotalMem_v2", ADDRESS, JAVA_INT),

  DEVICE_PRIMARY_CTX_RETAIN("cuDevicePrimaryCtxRetain", ADDRESS, JAVA_INT),
  DEVICE_PRIMARY_CTX_RELEASE("cuDevicePrimaryCtxRelease_v2", JAVA_INT),
  CTX_PUSH_CURRENT("cuCtxPushCurrent_v2", ADDRESS),
  CTX_POP_CURRENT("cuCtxPopCurrent_v2", ADDRESS),
  CTX_SYNCHRONIZE("cuCtxSynchronize"),

  MEM_GET_INFO("cuMemGetInfo_v2", ADDRESS, ADDRESS),
  MEM_ALLOC("cuMemAlloc_v2", ADDRESS, JAVA_LONG),
  MEM_FREE("cuMemFree_v2", JAVA_LONG),
  MEM_HOST_ALLOC("cuMemHostAlloc", ADDRESS, JAVA_LONG, JAVA_INT),
  MEM_FREE_HOST("cuMemFreeHost", ADDRESS),
  POINTER_GET_ATTRIBUTE("cuPointerGetAttribute", ADDRESS, JAVA_INT, JAVA_LONG),

  MEMCPY_TO_DEVICE("cuMemcpyHtoD_v2", JAVA_LONG, ADDRESS, JAVA_LONG),
  MEMCPY_TO_HOST("cuMemcpyDtoH_v2", ADDRESS, JAVA_LONG, JAVA_LONG),
  MEMCPY_TO_DEVICE_ASYNC("cuMemcpyHtoDAsync_v2", JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS),
  MEMCPY_TO_HOST_ASYNC("cuMemcpyDtoHAsync_v2", ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS),
  MEMCPY_ON_DEVICE_ASYNC("cuMemcpyDtoDAsync_v2", JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS),

  STREAM_CREATE("cuStreamCreate", ADDRESS, JAVA_INT),
  STREAM_GET_CTX("cuStreamGetCtx", ADDRESS, ADDRESS),
  STREAM_SYNCHRONIZE("cuStreamSynchronize", ADDRESS),
  STREAM_WAIT_EVENT("cuStreamWaitEvent", ADDRESS, ADDRESS, JAVA_INT),
  STREAM_DESTROY("cuStreamDestroy_v2", ADDRESS),

  EVENT_CREATE("cuEventCreate", ADDRESS, JAVA_INT),
  EVENT_RECORD("cuEventRecord", ADDRESS, ADDRESS),
  EVENT_SYNCHRONIZE("cuEventSynchronize", ADDRESS),
  EVENT_ELAPSED_TIME("cuEventElapsedTime", ADDRESS, ADDRESS, ADDRESS),
  EVENT_DESTROY("cuEventDestroy_v2", ADDRESS),

  MODULE_LOAD_DATA_EX("cuModuleLoadDataEx", ADDRESS, ADDRESS, JAVA_INT, ADDRESS, ADDRESS),
  MODULE_UNLOAD("cuModuleUnload", ADDRESS),
  MODULE_GET_FUNCTION("cuModuleGetFunction", ADDRESS, ADDRESS, ADDRESS),
  FUNC_GET_ATTRIBUTE("cuFuncGetAttribute", ADDRESS, JAVA_INT, ADDRESS),
  FUNC_SET_ATTRIBUTE("cuFuncSetAttribute", ADDRESS, JAVA_INT, JAVA_INT),

  /** A kernel, the grid's three sizes, a block's three sizes, shared bytes, stream, parameters. */
  LAUNCH_KERNEL(
      "cuLaunchKernel",
      ADDRESS,
      JAVA_INT,
      JAVA_INT,
      JAVA_INT,
      JAVA_INT,
      JAVA_INT,
      JAVA_INT,
      JAVA_INT,
      ADDRESS,
      ADDRESS,
      ADDRESS);

  private final String symbol;
  private final FunctionDescriptor type;

  EntryPoint(String symbol, MemoryLayout... arguments) {
    this.symbol = symbol;
    this.type = FunctionDescriptor.of(JAVA_INT, arguments);
  }

  /** The name that the library exports. */
  public String symbol() {
    return symbol;
  }

  /** What it takes and returns. */
  public FunctionDescriptor type() {
    return type;
  }
}
